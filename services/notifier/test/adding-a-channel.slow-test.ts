/** Does what docs/adding-a-channel.md says, to the letter, on a copy of the code, and looks whether there is a channel then. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../..')
const PAGE = readFileSync(join(ROOT, 'docs/adding-a-channel.md'), 'utf8')

/** A file of the page, or lines that one of ours gains. */
interface Step {
  readonly path: string
  readonly kind: 'ts' | 'diff'
  readonly code: string
}

/** Each block of code is for the file that was named last. */
function readSteps(): Step[] {
  const steps: Step[] = []
  let path = ''
  for (const [, named, kind, code] of PAGE.matchAll(/^`([\w./-]+\.ts)`$|^```(ts|diff)\n([\s\S]*?)^```$/gm)) {
    if (named !== undefined) path = named
    else steps.push({ path, kind: kind as Step['kind'], code: code ?? '' })
  }
  return steps
}

const steps = readSteps()
const folder = mkdtempSync(join(tmpdir(), 'backstop-new-channel-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the page adds files of its own and lines of lists, nothing else', () => {
  expect(steps.filter(step => step.kind === 'ts').map(step => step.path)).toEqual([
    'packages/contracts/src/channels/pager.ts',
    'services/notifier/src/channels/pager/config.ts',
    'services/notifier/src/channels/pager/payload.ts',
    'services/notifier/src/channels/pager/deliver.ts',
    'services/notifier/test/channel-worlds/pager.ts',
  ])
  for (const { code } of steps.filter(step => step.kind === 'diff')) {
    const lines = code.trimEnd().split('\n')
    expect(lines.every(line => /^[ +]/.test(line))).toBe(true)
    expect(lines.filter(line => line.startsWith('+'))).toHaveLength(1)
  }
})

describe('with the channel of the page', () => {
  beforeAll(() => {
    copyTheCode()
    for (const step of steps) take(step)
    mkdirSync(join(folder, 'services/admin-api/test'), { recursive: true })
    writeFileSync(join(folder, 'services/admin-api/test/pager.test.ts'), API_TEST)
  })

  test('the code passes the type checker', { timeout: 180_000 }, () => {
    const { status, output } = run('typescript/lib/tsc.js', ['-p', folder])
    expect(status, output).toBe(0)
  })

  test('the channel passes the suite, and the API takes, changes and shows it', { timeout: 180_000 }, () => {
    const files = ['services/notifier/test/channels.test.ts', 'services/admin-api/test/pager.test.ts']
    const args = ['run', '--project', 'unit', '-t', 'pager|every kind', '--reporter=json', ...files]
    const { status, output } = run('vitest/vitest.mjs', args)
    expect(status, output).toBe(0)
    const report = JSON.parse(output.slice(output.indexOf('{"num'))) as { numPassedTests: number }
    expect(report.numPassedTests).toBeGreaterThan(20)
  })
})

function copyTheCode(): void {
  for (const name of ['packages', 'services', 'stack', 'tsconfig.json', 'vitest.config.ts', 'package.json']) {
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: source => !source.split(sep).includes('node_modules'),
    })
  }
  // Everything as it is installed, but our own packages as they are in the copy.
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@backstop'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@backstop') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  for (const kind of ['packages', 'services']) {
    for (const name of readdirSync(join(folder, kind))) {
      symlinkSync(join(folder, kind, name), join(modules, '@backstop', name))
    }
  }
  symlinkSync(join(folder, 'stack'), join(modules, '@backstop', 'stack'))
}

function take({ path, kind, code }: Step): void {
  const file = join(folder, path)
  if (kind === 'ts') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
    return
  }
  const lines = code.trimEnd().split('\n')
  const before = lines.filter(line => line.startsWith(' ')).map(line => line.slice(1))
  const text = readFileSync(file, 'utf8')
  const parts = text.split(`${before.join('\n')}\n`)
  if (parts.length !== 2) throw new Error(`${path} does not hold these lines once:\n${before.join('\n')}`)
  writeFileSync(file, parts.join(`${lines.map(line => line.slice(1)).join('\n')}\n`))
}

function run(program: string, args: readonly string[]): { status: number | null; output: string } {
  const path = join(ROOT, 'node_modules', program)
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { cwd: folder, timeout: 170_000 })
  return { status, output: `${stdout}${stderr}` }
}

/** The management API knows nothing of pagers but their form. */
const API_TEST = `
  import { afterAll, expect, test } from 'vitest'
  import { openMemoryWorld } from './admin-world.ts'

  const world = await openMemoryWorld()
  afterAll(() => world.stop())

  test('a pager is made, changed and shown without its key, and refused where it may not lead', async () => {
    const { body: project } = await world.api.post('/v1/projects', { name: 'Shop' })
    const channel = (pager_url: string) => ({
      project_id: project.project_id,
      name: 'On call',
      events: ['incident.opened'],
      config: { kind: 'pager', pager_url, routing_key: 'canary-of-routing-key' },
    })
    const made = await world.api.post('/v1/alert-channels', channel('https://pager.example.test/v2'))
    expect(made).toMatchObject({ status: 201, body: { config: { kind: 'pager', pager_url: 'https://pager.example.test/v2' } } })
    const path = '/v1/alert-channels/' + made.body.id
    const changed = await world.api.patch(path, { config: { routing_key: 'canary-of-another-key' } })
    expect(changed.status).toBe(200)
    expect(changed.body.config.routing_key_fingerprint).not.toBe(made.body.config.routing_key_fingerprint)
    expect(JSON.stringify([made.body, changed.body])).not.toContain('canary')
    expect((await world.api.patch(path, { config: { to: ['a@b.test'] } })).status).toBe(400)
    expect((await world.api.post('/v1/alert-channels', channel('https://blocked.test/'))).status).toBe(400)
    expect(JSON.stringify((await world.api.get('/v1/openapi.json')).body)).toContain('routing_key_fingerprint')
    expect((await world.api.delete(path)).status).toBe(204)
  })
`
