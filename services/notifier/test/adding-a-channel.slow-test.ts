/** Follows docs/adding-a-channel.md step by step on a copy of the code, and tests the new channel. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type CodeCopy, copyTheCode, readPageSteps } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const PAGE = readFileSync(resolve(import.meta.dirname, '../../../docs/adding-a-channel.md'), 'utf8')

const steps = readPageSteps(PAGE)

test('the page adds files of its own and lines of lists, nothing else', () => {
  expect(steps.filter(step => step.kind === 'ts').map(step => step.path)).toEqual([
    'packages/channels/src/pager/form.ts',
    'packages/channels/src/pager/message.ts',
    'packages/channels/src/pager/target.ts',
    'packages/channels/src/pager/deliver.ts',
    'packages/channels/src/pager/preview.ts',
    'services/notifier/test/channel-receivers/pager.ts',
  ])
  for (const { code } of steps.filter(step => step.kind === 'diff')) {
    const lines = code.trimEnd().split('\n')
    expect(lines.every(line => /^[ +]/.test(line))).toBe(true)
    expect(lines.filter(line => line.startsWith('+'))).toHaveLength(1)
  }
})

describe('with the channel of the page', () => {
  let copy: CodeCopy
  beforeAll(() => {
    copy = copyTheCode()
    for (const step of steps) copy.take(step)
    const file = copy.at('services/admin-api/test/pager.test.ts')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, API_TEST)
  })
  afterAll(() => copy?.remove())

  test('the code passes the type checker', { timeout: 180_000 }, () => {
    const { status, output } = copy.run('typescript/lib/tsc.js', ['-p', '.'])
    expect(status, output).toBe(0)
  })

  test('the channel passes the suite, and the API takes, changes and shows it', { timeout: 180_000 }, () => {
    const files = ['services/notifier/test/channels.test.ts', 'services/admin-api/test/pager.test.ts']
    const args = ['run', '--project', 'unit', '-t', 'pager|every kind', '--reporter=json', ...files]
    const { status, output } = copy.run('vitest/vitest.mjs', args)
    expect(status, output).toBe(0)
    const report = JSON.parse(output.slice(output.indexOf('{"num'))) as { numPassedTests: number }
    expect(report.numPassedTests).toBeGreaterThan(20)
  })
})

/** The management API needs only the settings form of a pager. */
const API_TEST = `
  import { afterAll, expect, test } from 'vitest'
  import { startMemoryApi } from './test-api.ts'

  const testApi = await startMemoryApi()
  afterAll(() => testApi.stop())

  test('a pager is made, changed and shown without its key, and refused where it may not lead', async () => {
    const { body: project } = await testApi.api.post('/v1/projects', { name: 'Shop' })
    const channel = (pager_url: string) => ({
      project_id: project.project_id,
      name: 'On call',
      events: ['incident.opened'],
      config: { kind: 'pager', pager_url, pager_key: 'canary-of-pager-key' },
    })
    const made = await testApi.api.post('/v1/alert-channels', channel('https://pager.example.test/v2'))
    expect(made).toMatchObject({ status: 201, body: { config: { kind: 'pager', pager_url: 'https://pager.example.test/v2' } } })
    const path = '/v1/alert-channels/' + made.body.id
    const changed = await testApi.api.patch(path, { config: { pager_key: 'canary-of-another-key' } })
    expect(changed.status).toBe(200)
    expect(changed.body.config.pager_key_fingerprint).not.toBe(made.body.config.pager_key_fingerprint)
    expect(JSON.stringify([made.body, changed.body])).not.toContain('canary')
    expect((await testApi.api.patch(path, { config: { to: ['a@b.test'] } })).status).toBe(400)
    expect((await testApi.api.post('/v1/alert-channels', channel('https://blocked.test/'))).status).toBe(400)
    expect(JSON.stringify((await testApi.api.get('/v1/openapi.json')).body)).toContain('pager_key_fingerprint')
    expect((await testApi.api.delete(path)).status).toBe(204)
  })
`
