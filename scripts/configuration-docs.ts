/** `npm run configuration-docs` writes docs/configuration.md. Run it after a change of a setting. */
import { writeFileSync } from 'node:fs'
import { configurationPage, PAGE } from './configuration-docs/page.ts'

writeFileSync(PAGE, configurationPage())
process.stdout.write('docs/configuration.md\n')
