import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildClientPackage } from './build.ts'

let project: string
let folder: string
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'client-package-'))
  folder = join(project, 'node_modules/@backstop/client')
  buildClientPackage(folder)
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

test('the package needs no other package', () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(Object.keys(manifest).filter(field => /dependencies/i.test(field))).toEqual([])
  const outside = globSync('**/*.{js,d.ts}', { cwd: folder }).flatMap(name =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\bfrom '([^'.][^']*)'/g)].map(([, of]) => `${name}: ${of}`),
  )
  expect(outside.filter(line => !/^file-spool\.js: node:/.test(line))).toEqual([])
})

test('a program can import its entries', () => {
  const program =
    "import('@backstop/client').then(async a => console.log([...Object.keys(a), ...Object.keys(await import('@backstop/client/file-spool'))].sort().join()))"
  const printed = execFileSync(process.execPath, ['-e', program], { cwd: project, encoding: 'utf8' })
  expect(printed.trim()).toBe('ApiProblem,NoAnswer,createClient,createFileSpool,liveEvents,watch')
})
