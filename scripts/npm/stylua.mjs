// StyLua as WebAssembly, which needs no binary for each system: `node stylua.mjs --fix|--check FILE...`.
// Rewrites the files, or names those that are not formatted and exits with 1.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(new URL('../../.tools/npm/', import.meta.url))
const stylua = require('@johnnymorganz/stylua')

// Each call takes its configuration away.
function configuration() {
  const config = stylua.Config.new()
  config.column_width = 120
  config.indent_type = stylua.IndentType.Spaces
  config.indent_width = 2
  config.quote_style = stylua.QuoteStyle.AutoPreferSingle
  config.call_parentheses = stylua.CallParenType.Input
  config.syntax = stylua.LuaVersion.LuaJIT
  return config
}

const [mode, ...files] = process.argv.slice(2)
let wrong = 0
for (const file of files) {
  const text = readFileSync(file, 'utf8')
  let formatted
  try {
    formatted = stylua.formatCode(text, configuration(), undefined, stylua.OutputVerification.None)
  } catch (error) {
    console.error(`${file}: ${error}`)
    wrong++
    continue
  }
  if (formatted === text) continue
  if (mode === '--check') {
    console.error(`${file} is not formatted: run make fix`)
    wrong++
  } else {
    writeFileSync(file, formatted)
  }
}
process.exit(wrong ? 1 : 0)
