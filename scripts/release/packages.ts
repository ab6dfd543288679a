import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { REPOSITORY, withOutsideLinks } from './places.ts'

const ROOT = resolve(import.meta.dirname, '../..')

interface Published {
  /** Files of `src` that a program imports, by the name in `exports`. They get declarations. */
  readonly exports: Readonly<Record<string, string>>
  /** Files of `src` that are a command, by its name. */
  readonly bin: Readonly<Record<string, string>>
  /** The page of docs that npm shows. */
  readonly readme: string
}

/** The packages that are published, by their folder in packages. */
const PUBLISHED: Readonly<Record<string, Published>> = {
  client: { exports: { '.': 'index', './file-spool': 'file-spool' }, bin: {}, readme: 'client.md' },
  cli: { exports: {}, bin: { backstop: 'main' }, readme: 'cli.md' },
}

/**
 * Packs each published package into an archive for `npm install`. Node does not run TypeScript in node_modules, so the code of the workspaces is bundled;
 * packages of others are dependencies, in the versions of this checkout.
 * @param to the folder of the archives, which must exist
 * @returns the paths of the archives
 */
export async function packPackages(to: string): Promise<string[]> {
  const archives: string[] = []
  for (const [name, published] of Object.entries(PUBLISHED)) {
    const folder = mkdtempSync(join(tmpdir(), `backstop-${name}-`))
    try {
      await build(name, published, folder)
      const pack = ['pack', '--silent', '--pack-destination', to]
      archives.push(join(to, execFileSync('npm', pack, { cwd: folder, encoding: 'utf8' }).trim()))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return archives
}

async function build(name: string, { exports, bin, readme }: Published, folder: string): Promise<void> {
  const own = join(ROOT, 'packages', name)
  const { version, description, license, type, sideEffects, engines } = readJson(join(own, 'package.json'))
  const imported = await bundle(join(own, 'src'), [...Object.values(exports), ...Object.values(bin)], folder)
  declare(own, Object.values(exports), folder)
  const manifest = {
    ...{ name: `@backstop/${name}`, version, description, license, type, sideEffects, engines },
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: `packages/${name}` },
    exports: mapped(exports, file => ({ types: `./${file}.d.ts`, default: `./${file}.js` })),
    bin: mapped(bin, file => `${file}.js`),
    dependencies: versionsOf(imported),
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const page = readFileSync(join(ROOT, 'docs', readme), 'utf8')
  writeFileSync(join(folder, 'README.md'), withOutsideLinks(page, 'docs/', `v${version}`))
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

const mapped = <T>(files: Readonly<Record<string, string>>, change: (file: string) => T) =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, change(file)]))

/** @returns the names of the packages that the bundle imports */
async function bundle(sources: string, files: readonly string[], folder: string): Promise<string[]> {
  const isOfOthers = (id: string) => /^(?!@backstop\/)[a-z@]/.test(id)
  const input = Object.fromEntries(files.map(file => [file, join(sources, `${file}.ts`)]))
  const bundled = await rolldown({ input, platform: 'node', external: isOfOthers, transform: { target: 'es2022' } })
  const { output } = await bundled.write({ dir: folder, format: 'esm' })
  await bundled.close()
  const own = output.map(({ fileName }) => fileName)
  const imported = output.flatMap(file => (file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : []))
  return imported
    .filter(id => !own.includes(id) && !id.startsWith('node:'))
    .map(id => id.split('/', id.startsWith('@') ? 2 : 1).join('/'))
}

function declare(own: string, files: readonly string[], folder: string): void {
  if (files.length === 0) return
  const options =
    '--ignoreConfig --strict --target ES2022 --module NodeNext --lib ES2024,ESNext.Disposable --types node --skipLibCheck ' +
    '--declaration --emitDeclarationOnly --rewriteRelativeImportExtensions'
  const sources = join(own, 'src')
  const places = ['--rootDir', sources, '--outDir', folder, ...files.map(file => join(sources, `${file}.ts`))]
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...options.split(' '), ...places], { cwd: own, stdio: 'inherit' })
}

/** The exact versions of packages in the workspaces that depend on them. */
function versionsOf(names: readonly string[]): Record<string, string> {
  const manifests = globSync('packages/*/package.json', { cwd: ROOT }).map(path => readJson(join(ROOT, path)))
  const known = Object.assign({}, ...manifests.map(({ dependencies }) => dependencies))
  return Object.fromEntries(
    [...new Set(names)].sort().map(name => {
      if (known[name] === undefined) throw new Error(`No workspace depends on ${name}`)
      return [name, known[name]]
    }),
  )
}

// biome-ignore lint/suspicious/noExplicitAny: fields are copied as they are
const readJson = (path: string): any => JSON.parse(readFileSync(path, 'utf8'))
