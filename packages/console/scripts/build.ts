/** `npm run console` builds the console into packages/console/dist, unless nothing changed since the last build. */
import { buildConsole } from './build-console.ts'

const result = await buildConsole(line => process.stdout.write(`${line}\n`))
// The launcher builds the console in a child process.
process.send?.(result)
