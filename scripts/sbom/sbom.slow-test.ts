/** Compares the packages of the SBOM with an installation like that of the Dockerfile. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installedPackages, NOT_INSTALLED, ROOT } from './deployed.ts'

/** Name and version of every package below a node_modules folder. */
function installedIn(folder: string): string[] {
  return readdirSync(folder).flatMap(entry => {
    const path = join(folder, entry)
    if (entry.startsWith('.')) return []
    if (entry.startsWith('@')) return installedIn(path)
    if (!existsSync(join(path, 'package.json'))) return []
    const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    const below = join(path, 'node_modules')
    return [`${name}@${version}`, ...(existsSync(below) ? installedIn(below) : [])]
  })
}

test('holds exactly what npm ci installs for the images', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backstop-sbom-'))
  try {
    const manifests = globSync('{packages,services}/*/package.json', { cwd: ROOT })
    for (const path of ['package.json', 'package-lock.json', '.npmrc', ...manifests]) {
      if (!NOT_INSTALLED.some(folder => path.startsWith(folder))) cpSync(join(ROOT, path), join(folder, path))
    }
    const command = /npm (ci --omit=dev .*--workspace services)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
    execFileSync('npm', command![1]!.split(' '), { cwd: folder, stdio: 'pipe' })
    const listed = installedPackages().map(({ name, version }) => `${name}@${version}`)
    expect(new Set(installedIn(join(folder, 'node_modules')))).toEqual(new Set(listed))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
