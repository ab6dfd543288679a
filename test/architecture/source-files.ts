/** Reads the project's TypeScript files and their imports. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** From the project's root, e.g. `services/ingress/src/main.ts`. */
  path: string
  /** The folder of the package.json, e.g. `services/ingress`; `.` for files outside of workspaces. */
  workspace: string
  /** True if the file runs in production. False for tests, benchmarks, and code that only these use. */
  isProduction: boolean
  text: string
  imports: Import[]
}

export interface Import {
  /** The import path as written. */
  specifier: string
  /** The imported file, from the project's root, if the import is relative. */
  target: string | undefined
  /** True for an `import type`, which does not exist at run time. */
  isTypeOnly: boolean
}

const WORKSPACE = /^(packages|services)\/[^/]+|^stack/

/** Every TypeScript file of ours. */
export function readSourceFiles(): SourceFile[] {
  const paths = globSync('{packages,services,stack,scripts,test,bench,reporters}/**/*.{ts,tsx}', {
    cwd: ROOT,
    exclude: path => path.split('/').some(part => part === 'node_modules' || part === 'dist'),
  })
  return paths.sort().map(path => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const workspace = WORKSPACE.exec(path)?.[0] ?? '.'
    const isProduction =
      workspace !== '.' && path.startsWith(`${workspace}/src/`) && !/[.-]test\.tsx?$|\.contract\.ts$/.test(path)
    return { path, workspace, isProduction, text, imports: importsOf(path, text) }
  })
}

// The formatter writes every import in one of these forms. Lines of comments begin with `*` or `//` and do not match.
const STATIC_IMPORT = /^(?:import|export)\b[^'"`;]*?\bfrom\s+'([^']+)'/gm
const BARE_IMPORT = /^import\s+'([^']+)'/gm
const DYNAMIC_IMPORT = /\bimport\(\s*'([^']+)'\s*\)/g

export function importsOf(path: string, text: string): Import[] {
  return [STATIC_IMPORT, BARE_IMPORT, DYNAMIC_IMPORT]
    .flatMap(pattern => [...text.matchAll(pattern)])
    .map(([statement, specifier = '']) => ({
      specifier,
      isTypeOnly: /^(?:import|export) type\b/.test(statement),
      target: specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : undefined,
    }))
}

/** Name of a workspace's package by its folder, e.g. `services/ingress` → `@backstop/ingress`. */
export function packageNameOf(workspace: string): string {
  return `@backstop/${workspace.split('/').at(-1)}`
}
