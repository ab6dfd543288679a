import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'packages/client/src')

/** The files of the entries, without their ending. */
const ENTRIES = { '.': 'index', './file-spool': 'file-spool' }

/** Builds packages/client into a folder, which is replaced. Node does not run TypeScript in node_modules, so it is compiled. */
export function buildClientPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const entries = Object.values(ENTRIES).map(name => join(SOURCES, `${name}.ts`))
  const options = [
    '--ignoreConfig',
    '--strict',
    '--target',
    'ES2022',
    '--module',
    'NodeNext',
    '--rewriteRelativeImportExtensions',
  ]
  const libraries = [
    '--lib',
    'ES2024,ESNext.Disposable',
    '--types',
    'node',
    '--skipLibCheck',
    '--declaration',
    '--erasableSyntaxOnly',
  ]
  const places = ['--rootDir', SOURCES, '--outDir', folder]
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...libraries, ...places, ...entries], {
    cwd: join(ROOT, 'packages/client'),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const { name, version, license, type, sideEffects } = JSON.parse(
    readFileSync(join(ROOT, 'packages/client/package.json'), 'utf8'),
  )
  const exports = Object.fromEntries(
    Object.entries(ENTRIES).map(([entry, file]) => [entry, { types: `./${file}.d.ts`, default: `./${file}.js` }]),
  )
  const description = 'Reports refunds and cancellations to Backstop, and calls its management API'
  const manifest = { name, version, description, license, type, sideEffects, engines: { node: '>=20.3' }, exports }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(ROOT, 'docs/client.md'), join(folder, 'README.md'))
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}
