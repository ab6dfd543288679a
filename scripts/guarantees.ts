/** `npm run guarantees` writes docs/guarantees-proofs.md. Run it after a change of a promise or of a test that proves one. */
import { writeFileSync } from 'node:fs'
import { PROOFS_PAGE, proofsPage } from './guarantees/page.ts'

writeFileSync(PROOFS_PAGE, proofsPage())
process.stdout.write('docs/guarantees-proofs.md\n')
