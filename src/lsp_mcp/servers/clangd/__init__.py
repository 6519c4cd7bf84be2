"""clangd, LLVM's language server for C and C++."""
