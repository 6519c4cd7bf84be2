"""Debug adapters driven directly, without an editor: from a connection (`transport`) to all sessions (`sessions`).

Places are files and lines from 1, as the adapters are told; columns are not used.
"""
