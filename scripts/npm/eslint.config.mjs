// ESLint for the board's page. The packages are in .tools/npm, where Node does not look by itself.
import { createRequire } from 'node:module'

const require = createRequire(new URL('../../.tools/npm/', import.meta.url))
const js = require('@eslint/js')
const globals = require('globals')

export default [
  js.configs.recommended,
  {
    files: ['web/**/*.js'],
    languageOptions: { ecmaVersion: 'latest', sourceType: 'module', globals: { ...globals.browser } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      // Strings of users never become markup.
      'no-restricted-properties': ['error', { property: 'innerHTML' }, { property: 'outerHTML' }, { property: 'insertAdjacentHTML' }],
      'no-eval': 'error',
      'no-implied-eval': 'error',
    },
  },
  {
    files: ['web/board/stream_worker.js'],
    languageOptions: { globals: { ...globals.sharedWorker } },
  },
]
