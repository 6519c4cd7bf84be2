"""Language servers of an editor: the interface that an editor implements, and connections to its servers."""
