"""The door: a small process that connects one client on stdio to the daemon it shares with others.

It imports the standard library only, and as little of it as it can: it is started for each session and each shell call.
"""
