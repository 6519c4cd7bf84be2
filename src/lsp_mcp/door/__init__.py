"""The door: a small process that connects one client on stdio to a shared daemon.

It imports the standard library only, and little of it: it is started for each session and each shell call.
"""
