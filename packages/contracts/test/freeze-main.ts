/** `npm run freeze -w @backstop/contracts` freezes the schemas and samples of the release whose version package.json has. */
import manifest from '../package.json' with { type: 'json' }
import { freeze } from './freeze.ts'

try {
  freeze(manifest.version)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
