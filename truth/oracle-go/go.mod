module lsp-mcp/truth/oracle-go

go 1.25.0
