"""The index store: uses and definitions of many repositories, from SCIP files that indexers make (docs/indexes.md)."""
