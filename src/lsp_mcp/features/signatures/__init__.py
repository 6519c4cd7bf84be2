"""Changes of a function's parameters, with everything that declares, defines and calls it."""
