/** The published packages, in an empty project that installs their archives with npm. */
import { execFile, execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { packPackages } from '../../scripts/release/packages.ts'
import { BOOTSTRAP_KEY, startMemoryApi } from '../../services/admin-api/test/test-api.ts'

const ROOT = resolve(import.meta.dirname, '../..')

let project: string
let archives: string[]
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'backstop-packages-'))
  archives = await packPackages(project)
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  // Not offline: npm keeps no list of versions for packages that it installed from a lock file.
  npm('install', '--prefer-offline', '--omit=dev', ...archives)
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

const npm = (...args: string[]) => execFileSync('npm', args, { cwd: project, encoding: 'utf8' })
const installed = (name: string) => join(project, 'node_modules/@backstop', name)
const manifestOf = (name: string) => JSON.parse(readFileSync(join(installed(name), 'package.json'), 'utf8'))

/** Runs the installed command, and gives its exit code and output. */
async function backstop(args: string[], environment: Record<string, string> = {}) {
  const options = { cwd: project, env: { ...process.env, HOME: project, ...environment } }
  const ran = promisify(execFile)('npx', ['--offline', 'backstop', ...args], options)
  return ran.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

test('each archive has the version of the checkout, and its manifest names the repository, as provenance needs', () => {
  expect(archives.map(path => path.slice(project.length + 1))).toEqual([
    `backstop-client-${packageJson.version}.tgz`,
    `backstop-cli-${packageJson.version}.tgz`,
  ])
  for (const name of ['client', 'cli']) {
    expect(manifestOf(name).repository).toMatchObject({
      url: expect.stringMatching(/^git\+https:.*\.git$/),
      directory: `packages/${name}`,
    })
    expect(readFileSync(join(installed(name), 'README.md'), 'utf8')).not.toMatch(/\]\((?!https:|#)/)
    expect(readFileSync(join(installed(name), 'LICENSE'), 'utf8')).toContain('Apache License')
  }
})

describe('@backstop/client', () => {
  test('needs no other package', () => {
    expect(manifestOf('client').dependencies).toEqual({})
    const imports = globSync('**/*.{js,d.ts}', { cwd: installed('client') }).flatMap(name =>
      [...readFileSync(join(installed('client'), name), 'utf8').matchAll(/\bfrom ['"]([^'".][^'"]*)['"]/g)].map(
        ([, from]) => `${name}: ${from}`,
      ),
    )
    expect(imports.filter(line => !/^file-spool\.js: node:/.test(line))).toEqual([])
  })

  test('JavaScript can import its entries', () => {
    const program =
      "console.log([...Object.keys(await import('@backstop/client')), ...Object.keys(await import('@backstop/client/file-spool'))].sort().join())"
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project })
    expect(printed.toString().trim()).toBe('ApiProblem,NoAnswer,createClient,createFileSpool,liveEvents,watch')
  })

  test('TypeScript knows its types', () => {
    const check = (line: string) => {
      const text = `import { createClient } from '@backstop/client'\nimport { createFileSpool } from '@backstop/client/file-spool'\ncreateFileSpool\n${line}\n`
      mkdirSync(join(project, 'typed'), { recursive: true })
      writeFileSync(join(project, 'typed/index.ts'), text)
      const options = ['--ignoreConfig', '--strict', '--noEmit', '--module', 'NodeNext', '--types', '']
      return execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, 'typed/index.ts'], { cwd: project })
    }
    check(
      "const { project_id } = await createClient({ baseUrl: 'http://a', key: 'b' }).projects.create({ name: 'c' })\nproject_id satisfies string",
    )
    expect(() => check("createClient({ baseUrl: 1, key: 'b' })")).toThrow()
  })
})

describe('@backstop/cli', () => {
  test('prints its version and its commands', async () => {
    expect(await backstop(['--version'])).toMatchObject({ code: 0, stdout: `${packageJson.version}\n` })
    expect((await backstop(['--help'])).stdout).toMatch(/^Usage: backstop .*^ {2}doctor /ms)
  })

  test('works against a management API', async () => {
    const api = await startMemoryApi()
    try {
      const reached = { BACKSTOP_URL: `http://127.0.0.1:${api.app.port()}`, BACKSTOP_API_KEY: BOOTSTRAP_KEY }
      expect(await backstop(['projects', 'create', 'Shop'], reached)).toMatchObject({ code: 0 })
      expect((await backstop(['projects', 'list'], reached)).stdout).toContain('Shop')
    } finally {
      await api.stop()
    }
  })

  test('says what to do without one', async () => {
    const { code, stderr } = await backstop(['projects', 'list'])
    expect(code).toBe(5)
    expect(stderr).toContain('backstop login <url>')
  })

  test('finds the modules of kafkajs that it replaces, which only a program that opens Kafka loads', async () => {
    const unreachable = { KAFKA_BROKERS: '127.0.0.1:9', BACKSTOP_URL: 'http://127.0.0.1:9', BACKSTOP_API_KEY: 'none' }
    expect((await backstop(['doctor'], unreachable)).stdout).toContain('kafka_down')
  })
})

// The registry has no old Node for every system.
test.runIf(process.platform === 'linux')('each package runs on the oldest Node that its manifest names', () => {
  const nodeOf = (name: string) => `node-linux-${process.arch}@${manifestOf(name).engines.node.slice(2)}.0`
  npm('install', '--no-save', '--prefer-offline', ...['client', 'cli'].map(name => `for-${name}@npm:${nodeOf(name)}`))
  const run = (name: string, ...args: string[]) =>
    execFileSync(join(project, `node_modules/for-${name}/bin/node`), args, { cwd: project, encoding: 'utf8' })
  expect(run('cli', 'node_modules/@backstop/cli/main.js', '--version')).toBe(`${packageJson.version}\n`)
  const program = `
    const { createClient, NoAnswer } = await import('@backstop/client')
    await import('@backstop/client/file-spool')
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', key: 'none' })
    await client.projects.create({ name: 'Shop' }).catch(error => console.log(error instanceof NoAnswer))`
  expect(run('client', '--input-type=module', '--eval', program)).toBe('true\n')
})
