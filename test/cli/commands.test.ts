/** The commands of `backstop` that call the management API, against that API in memory. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProgram, runCommandLine } from '../../packages/cli/src/command-line.ts'
import type { Surroundings } from '../../packages/cli/src/surroundings.ts'
import { createClient, type NewAlertChannel } from '../../packages/client/src/index.ts'
import { storeDeadLetter } from '../../services/admin-api/test/contract/every-route.ts'
import { storeIncident } from '../../services/admin-api/test/contract/incidents.contract.ts'
import { BOOTSTRAP_KEY, INGRESS_URL, startMemoryApi, type TestApi } from '../../services/admin-api/test/test-api.ts'

let testApi: TestApi
/** Rows join the hash chain two minutes after they were written. */
const CHAINED_AFTER_MS = 180_000
let folder = ''
const address = () => `http://127.0.0.1:${testApi.app.port()}`
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-commands-'))
  testApi = await startMemoryApi()
})
afterAll(async () => {
  await testApi?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function run(
  args: readonly string[],
  input = '',
  environment: Surroundings['environment'] = { BACKSTOP_URL: address(), BACKSTOP_API_KEY: BOOTSTRAP_KEY },
) {
  const [out, err]: [string[], string[]] = [[], []]
  const exit = await runCommandLine(args, {
    environment: { ...environment, HOME: folder },
    folder,
    out: text => out.push(text),
    err: text => err.push(text),
    readInput: async () => input,
    isTerminal: false,
    operator: 'ada@laptop',
    now: Date.now,
  })
  return { exit, out: out.join(''), err: err.join('') }
}

/** Runs a command that must succeed. @returns its JSON */
async function json(...args: readonly string[]) {
  const { exit, out, err } = await run([...args, '--json'])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  return JSON.parse(out)
}

async function addIncident(): Promise<string> {
  const { project_id } = await json('projects', 'create', 'Shop')
  const { incident } = await storeIncident(testApi, project_id, 'con_1')
  // The incident shows its own timeline, and not that of an action.
  await testApi.others.incidents.change({ _id: incident }, { action_id: null })
  return incident
}

describe('lists', () => {
  test('are a table, lines of JSON, or ids, and say that --limit cut them', async () => {
    const ids = []
    for (const name of ['A', 'B', 'C']) ids.unshift((await json('projects', 'create', name)).project_id)
    const table = await run(['projects', 'list', '--limit', '2'])
    expect(table.out).toMatch(/^PROJECT +NAME +CREATED\nprj_\w+ +C +\d{4}-\d\d-\d\d .* UTC\nprj_\w+ +B .*\n$/)
    expect(table.err).toBe('Only the first 2; --limit <n> prints more\n')
    const lines = (await run(['projects', 'list', '--limit', '2', '--json'])).out.trim().split('\n')
    expect(lines.map(line => JSON.parse(line).project_id)).toEqual(ids.slice(0, 2))
    expect(await run(['projects', 'list', '--limit', '2', '--ids'])).toEqual({
      exit: 0,
      out: `${ids.slice(0, 2).join('\n')}\n`,
      err: '',
    })
  })

  test('say None if they are empty', async () => {
    const { project_id } = await json('projects', 'create', 'Empty')
    expect((await run(['channels', 'list', '--project', project_id])).out).toBe('None.\n')
  })
})

describe('connections', () => {
  test('create prints the URL, the events and how to store the secret, and show finds the project of a connection', async () => {
    const { project_id } = await json('projects', 'create', 'Shop')
    const { out } = await run(['connections', 'create', 'Cards', '--kind', 'processor', '--project', project_id])
    const [, id = ''] = /^Connection +(con_\w+)$/m.exec(out) ?? []
    expect(out).toContain(`${INGRESS_URL}/v1/webhooks/processor/${id}`)
    expect(out).toContain('customer.subscription.deleted')
    // Stripe makes the secret. A provider that takes one of ours gets it from `secret --generate`.
    expect(out).toContain(`and store it:  backstop connections secret ${id}`)
    const shown = await run(['connections', 'show', id])
    expect(shown.out).toContain(project_id)
    expect(shown.out).not.toContain('whsec_')
    expect((await run(['connections', 'secret', id], 'whsec_of_the_provider_0123456789\n')).out).toContain('Stored')
    expect((await run(['connections', 'read-key', id], 'rk_test_of_the_provider\n')).out).toContain('Stored')
    expect((await run(['connections', 'show', id])).out).not.toContain('read-only API key')
  })

  test('secret generates one, keeps the previous one for the overlap, and asks for --generate if it must', async () => {
    const { project_id } = await json('projects', 'create', 'Shop')
    const create = async (kind: string) =>
      (await json('connections', 'create', kind, '--kind', kind, '--project', project_id)).connection_id
    const cards = await create('processor')
    const generated = await run(['connections', 'secret', cards, '--generate', '--overlap-hours', '2'])
    expect(generated).toMatchObject({ exit: 0, out: expect.stringMatching(/^whsec_\w+\n$/) })
    const own = await json('connections', 'secret', cards, '--generate', '--overlap-hours', '0')
    expect(own.signing_secret).toMatch(/^whsec_/)
    const biller = await create('subscription')
    expect(await run(['connections', 'secret', biller], 'chosen')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--generate'),
    })
    expect((await run(['connections', 'secret', biller, '--generate'])).out).toMatch(/^service:\S+\n$/)
  })

  test("create reads the secret of a reseller's destination from standard input", async () => {
    const { project_id } = await json('projects', 'create', 'Shop')
    const create = ['connections', 'create', 'Sales', '--kind', 'reseller', '--project', project_id]
    expect(await run(create)).toMatchObject({ exit: 2, err: expect.stringContaining('on standard input') })
    const created = await run([...create, '--json'], 'pdl_ntfset_01_of_the_test_0123456789\n')
    expect(created).toMatchObject({ exit: 0, out: expect.stringContaining('"kind": "reseller"') })
  })

  test('ask for a project if there are several, and for existing ids', async () => {
    await json('projects', 'create', 'Another')
    await json('projects', 'create', 'One more')
    expect(await run(['connections', 'list'])).toMatchObject({
      exit: 2,
      err: expect.stringMatching(
        /^There are several projects\n\nChoose one with --project:\n {2}prj_\w+ {2}One more\n/,
      ),
    })
    expect(await run(['connections', 'show', 'con_none'])).toMatchObject({ exit: 3 })
  })
})

describe('incidents', () => {
  test('are listed, acknowledged, commented on, resolved with reason and note, and opened again', async () => {
    const id = await addIncident()
    expect((await run(['incidents', 'list', '--state', 'open'])).out).toContain(id)
    expect((await run(['incidents', 'ack', id])).out).toBe(`${id} is acknowledged\n`)
    expect((await json('incidents', 'assign', id, '--to', 'Ops')).assignee).toBe('Ops')
    expect(await run(['incidents', 'assign', id])).toMatchObject({ exit: 2, out: '' })
    expect((await run(['incidents', 'comment', id, 'Asked support'])).exit).toBe(0)
    const resolved = await json(
      'incidents',
      'resolve',
      id,
      '--reason',
      'our_own_change',
      '--explain',
      '--note',
      'By support',
    )
    expect(resolved).toMatchObject({ state: 'resolved', reason: 'our_own_change', note: 'By support' })
    const shown = await run(['incidents', 'show', id])
    expect(shown.out).toMatch(/^Incident +inc_[\s\S]*Note +By support[\s\S]*Timeline[\s\S]*Asked support/)
    expect((await run(['incidents', 'reopen', id])).out).toBe(`${id} is open\n`)
  })

  test('a refused change ends with 1 and says why; an unknown incident with 3', async () => {
    const id = await addIncident()
    expect(await run(['incidents', 'reopen', id])).toMatchObject({
      exit: 1,
      out: '',
      err: expect.stringMatching(/open/),
    })
    expect(await run(['incidents', 'ack', 'inc_none'])).toMatchObject({ exit: 3, out: '' })
  })
})

describe('beside a running npm start', () => {
  /** Runs a command as in the folder of an `npm start` with this project. */
  const runBeside = (project: string | undefined, ...args: string[]) => {
    mkdirSync(join(folder, '.backstop'), { recursive: true })
    const start = { admin: address(), key: BOOTSTRAP_KEY, mongo: 'mongodb://127.0.0.1:9', database: 'backstop' }
    writeFileSync(
      join(folder, '.backstop', 'run.json'),
      JSON.stringify({ ...start, recheck_delay_ms: 60_000, ...(project === undefined ? {} : { project }) }),
    )
    return run(args, '', {})
  }
  async function setUp() {
    const { project_id } = await json('projects', 'create', 'Demo shop')
    const other = await json('projects', 'create', 'Example company')
    const [own, foreign] = [
      await storeIncident(testApi, project_id, 'con_1'),
      await storeIncident(testApi, other.project_id, 'con_2'),
    ]
    return { project_id, own: own.incident, foreign: foreign.incident }
  }

  test('commands use the project of its demo among several, and say so', async () => {
    const { project_id, own } = await setUp()
    const err = `Project "Demo shop" (${project_id}), the demo of npm start; --project chooses another\n`
    const created = await runBeside(project_id, 'connections', 'create', 'Cards', '--kind', 'processor')
    expect(created).toEqual({ exit: 0, out: expect.stringContaining(project_id), err })
    expect(await runBeside(project_id, 'incidents', 'list', '--ids')).toEqual({ exit: 0, out: `${own}\n`, err })
  })

  test('--project and --connection choose others, and `all` every project', async () => {
    const { project_id, own, foreign } = await setUp()
    const listed = async (...args: string[]) =>
      (await runBeside(project_id, 'incidents', 'list', '--ids', '--limit', '2', ...args)).out.trim().split('\n')
    expect(new Set(await listed('--project', 'all'))).toEqual(new Set([own, foreign]))
    expect(await listed('--connection', 'con_2')).toContain(foreign)
  })

  test.each([['without a demo'], ['whose demo was removed']])('%s, a command asks for the project', async name => {
    await setUp()
    const asked = await runBeside(name === 'without a demo' ? undefined : 'prj_removed', 'connections', 'list')
    expect(asked).toMatchObject({ exit: 2, err: expect.stringContaining('There are several projects') })
  })
})

test('the list of incidents has amount, customer and payment in columns', async () => {
  const { project_id } = await json('projects', 'create', 'Shop')
  const { incident, action } = await storeIncident(testApi, project_id, 'con_1')
  const customer = { id: 'cus_1', name: 'Chiara Moretti', email: null }
  await testApi.others.actions.change({ _id: action }, { customer })
  const { out } = await run(['incidents', 'list', '--project', project_id])
  expect(out.split('\n')[0]).toMatch(/^INCIDENT +STATE +OPENED +AMOUNT +CUSTOMER +ABOUT$/)
  expect(out).toMatch(
    new RegExp(`^${incident} +open +\\S+ \\S+ UTC +EUR 24\\.99 +Chiara Moretti +refund on pi_1$`, 'm'),
  )
})

describe('many incidents', () => {
  async function setUp() {
    const { project_id } = await json('projects', 'create', 'Shop')
    const { incident } = await storeIncident(testApi, project_id, 'con_1')
    const resolve = [
      'incidents',
      'resolve',
      '--filter',
      'connection=con_1',
      '--project',
      project_id,
      '--reason',
      'duplicate',
    ]
    return { project_id, incident, resolve }
  }

  test('are shown by --dry-run, which changes nothing', async () => {
    const { incident, resolve } = await setUp()
    const { exit, out } = await run([...resolve, '--dry-run'])
    expect(exit).toBe(0)
    expect(out).toMatch(/^1 incident about EUR 24\.99\n/)
    expect(out).toContain(incident)
    expect((await json('incidents', 'show', incident)).state).toBe('open')
  })

  test.each([
    { name: 'acknowledged', args: ['ack'], change: { kind: 'acknowledge' } },
    { name: 'assigned', args: ['assign', '--to', 'Ops'], change: { kind: 'assign', assignee: 'Ops' } },
    { name: 'assigned to nobody', args: ['assign', '--nobody'], change: { kind: 'assign', assignee: null } },
  ])('are $name by a filter', async ({ args, change }) => {
    const { project_id, incident } = await setUp()
    const many = ['incidents', ...args, '--filter', 'connection=con_1', '--project', project_id]
    expect((await run([...many, '--dry-run'])).out).toContain(incident)
    expect(await run([...many, '--yes'])).toMatchObject({ exit: 0, out: expect.stringMatching(/^blk_/) })
    expect(testApi.commands.findLast(({ kind }) => kind === 'change_incidents')).toMatchObject({ change })
  })

  test('are resolved only after a yes, and without a question with --yes', async () => {
    const { incident, resolve } = await setUp()
    expect(await run(resolve, 'no\n')).toMatchObject({ exit: 1, err: expect.stringContaining(incident) })
    const requested = () => testApi.commands.filter(({ kind }) => kind === 'change_incidents').length
    const before = requested()
    const answers = [await run(resolve, 'yes\n'), await run([...resolve, '--yes'])]
    for (const { exit, out } of answers) {
      // The stand-in of the reconciler answers with these numbers.
      expect({ exit, out }).toEqual({
        exit: 0,
        out: expect.stringMatching(/^blk_\w+: 7 changed, 1 refused by their state\n$/),
      })
    }
    expect(requested()).toBe(before + 2)
  })

  test.each([
    { name: 'an unknown word in the filter', args: ['--filter', 'colour=red'] },
    { name: 'neither id nor filter', args: [] },
  ])('are refused with $name', async ({ args }) => {
    const { exit, out } = await run(['incidents', 'resolve', '--reason', 'other', ...args, '--project', 'prj_1'])
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
  })
})

test('search finds an incident by its id, and people list is a list', async () => {
  const { project_id } = await json('projects', 'create', 'Shop')
  const { incident } = await storeIncident(testApi, project_id, 'con_1')
  expect((await run(['search', incident, '--project', project_id])).out).toMatch(
    new RegExp(`^${incident} +incident `, 'm'),
  )
  expect(await run(['people', 'list'])).toMatchObject({ exit: 0, out: 'None.\n' })
})

test('stats are a table, and a statement of a connection or project is written as CSV', async () => {
  const { project_id } = await json('projects', 'create', 'Shop')
  const { connection_id } = await json('connections', 'create', 'Cards', '--kind', 'processor', '--project', project_id)
  expect((await run(['stats', '--project', project_id])).out).toMatch(/^From +\d{4}[\s\S]*None\.\n$/)
  expect((await run(['statements', connection_id, '--month', '2026-11'])).out).toBe('2026-11\nNone.\n')
  expect((await run(['statements', project_id, '--month', '2026-11'])).out).toBe('2026-11\nNone.\n')
  expect((await run(['statements', project_id, '--month', '2026-11', '--by', 'actor'])).out).toBe('2026-11\nNone.\n')
  const made = { kind: 'refund', currency: 'eur', mode: 'live', count: 3, amount: 1_250 } as const
  const [first, last] = ['2026-11-03T10:00:00.000Z', '2026-11-03T11:00:00.000Z']
  await testApi.others.dailyTotals.put({
    ...{ _id: `${connection_id}/2026-11-03`, project_id, connection_id, day: new Date('2026-11-03') },
    ...{ marks: 1, counted: 1, totals: [], times: { verdict: [], acknowledgement: [], resolution: [] } },
    ...{ actors: [{ ...made, actor_id: 'acr_desk', first, last }], actor_count: 1 },
  })
  const byActor = await run(['statements', project_id, '--month', '2026-11', '--by', 'actor'])
  expect(byActor.out).toMatch(/^2026-11\nACTOR +KIND .*\nacr_desk +refund +live +3 +EUR 12\.50\n$/)
  const file = join(folder, 'statement.csv')
  const written = await run(['statements', connection_id, '--month', '2026-11', '--csv', file])
  expect(written).toEqual({ exit: 0, out: `Wrote ${file}\n`, err: '' })
  expect(readFileSync(file, 'utf8')).toContain('category')
  await run(['statements', connection_id, '--month', '2026-11', '--by', 'actor', '--csv', file])
  expect(readFileSync(file, 'utf8')).toContain(',acr_desk,')
  expect(await run(['statements', connection_id, '--month', 'November'])).toMatchObject({ exit: 2 })
})

test('replay notifications is requested for a connection, and shown', async () => {
  const { project_id } = await json('projects', 'create', 'Shop')
  const { connection_id } = await json('connections', 'create', 'Cards', '--kind', 'processor', '--project', project_id)
  const replay = await json('replay', 'notifications', connection_id, '--from', '24h', '--outcome', 'parked')
  expect(replay).toMatchObject({ connection_id, outcome: 'parked' })
  expect((await run(['replay', 'show', replay.replay_id])).out).toContain('notifications decided again')
})

describe('--help', () => {
  const leaves = (command: ReturnType<typeof createProgram>, path: string[] = []): string[][] =>
    command.commands.length === 0 ? [path] : command.commands.flatMap(child => leaves(child, [...path, child.name()]))
  test.each(
    leaves(createProgram({ out: () => {} } as unknown as Surroundings)).map(path => ({ path: path.join(' ') })),
  )('of $path ends with an example of it', async ({ path }) => {
    const { exit, out } = await run([...path.split(' '), '--help'])
    expect(exit).toBe(0)
    expect(out.split('\nExample:\n')[1]).toContain(`backstop ${path}`)
  })
})

describe('channels', () => {
  test('test ends with 1 and the error if the receiver does not accept the delivery', async () => {
    const { project_id } = await json('projects', 'create', 'Shop')
    const client = createClient({ baseUrl: address(), key: BOOTSTRAP_KEY })
    const { channel_id } = await client.alertChannels.create({
      project_id,
      name: 'Team',
      events: ['incident.opened'],
      config: { kind: 'webhook', url: 'https://hooks.example.com/1' },
    })
    testApi.setReceiverAnswer({ outcome: 'delivered', status: 200 })
    expect((await run(['channels', 'test', channel_id])).out).toMatch(/^Delivered: answer 200 after \S+ ms\n$/)
    testApi.setReceiverAnswer({ outcome: 'failed', status: 500, error: 'It answered 500' })
    expect(await run(['channels', 'test', channel_id])).toMatchObject({
      exit: 1,
      err: expect.stringContaining('Not delivered: It answered 500'),
    })
  })
})

describe('the secrets of channels', () => {
  const create = async (config: NewAlertChannel['config']) => {
    const { project_id } = await json('projects', 'create', 'Shop')
    const client = createClient({ baseUrl: address(), key: BOOTSTRAP_KEY })
    const { channel_id } = await client.alertChannels.create({ project_id, name: 'A', events: ['run.failed'], config })
    return channel_id
  }

  test('a webhook gets a new signing secret, which is the only text on standard output', async () => {
    const id = await create({ kind: 'webhook', url: 'https://hooks.example.com/1' })
    const first = await run(['channels', 'secret', id])
    expect(first).toMatchObject({ exit: 0, out: expect.stringMatching(/^whsec_\S+\n$/) })
    const second = await json('channels', 'secret', id, '--overlap-hours', '1')
    expect(second.config.previous_secret_expires_at).toEqual(expect.any(String))
    expect(await run(['channels', 'credential', id], 'x')).toMatchObject({ exit: 2 })
  })

  test('a second signing secret during the overlap needs --force, because the receiver may have the previous one', async () => {
    const id = await create({ kind: 'webhook', url: 'https://hooks.example.com/1' })
    await run(['channels', 'secret', id])
    const rotated = await json('channels', 'secret', id)
    const refused = await run(['channels', 'secret', id])
    expect(refused).toMatchObject({ exit: 1, out: '' })
    expect(refused.err).toContain(`signs until ${rotated.config.previous_secret_expires_at}`)
    expect(refused.err).toContain('--force')
    const forced = await run(['channels', 'secret', id, '--force', '--overlap-hours', '0'])
    expect(forced).toMatchObject({ exit: 0, out: expect.stringMatching(/^whsec_\S+\n$/) })
    expect(await run(['channels', 'secret', id])).toMatchObject({ exit: 0 })
  })

  test('a new webhook URL or routing key replaces the stored one, and a channel is enabled again', async () => {
    const hooks = (secret: string) => `https://hooks.slack.com/services/T0/B0/${secret}`
    const id = await create({ kind: 'slack', webhook_url: hooks('previous') })
    const client = createClient({ baseUrl: address(), key: BOOTSTRAP_KEY })
    const before = await client.alertChannels.get(id)
    const stored = await run(['channels', 'credential', id], `${hooks('new')}\n`)
    expect(stored).toMatchObject({ exit: 0, out: `Stored the webhook_url of ${id}\n` })
    expect((await client.alertChannels.get(id)).config).not.toEqual(before.config)
    const duty = await create({ kind: 'pagerduty', routing_key: '0'.repeat(32) })
    expect((await run(['channels', 'credential', duty], '1'.repeat(32))).out).toContain('routing_key')
    await client.alertChannels.change(id, { enabled: false })
    expect(await run(['channels', 'enable', id])).toMatchObject({ exit: 0 })
    expect((await client.alertChannels.get(id)).enabled).toBe(true)
  })
})

describe('keys', () => {
  test('a new key is the only text on standard output; it is rotated, listed and revoked', async () => {
    const created = await run(['keys', 'create', 'Worker', '--scope', 'operations:write', 'read', '--days', '30'])
    expect(created).toMatchObject({ exit: 0, out: expect.stringMatching(/^bsk_\w+\n$/) })
    const [, id = ''] = /^(key_\w+) is valid until /.exec(created.err) ?? []
    const rotated = await json('keys', 'rotate', id, '--overlap-hours', '2')
    expect(rotated).toMatchObject({
      key_id: id,
      scopes: ['operations:write', 'read'],
      previous: { hint: expect.any(String) },
    })
    expect((await run(['keys', 'list'])).out).toMatch(new RegExp(`^${id} +active +operations:write,read +all `, 'm'))
    expect(await json('keys', 'revoke', id)).toMatchObject({ key_id: id, state: 'revoked' })
  })

  test('values that the API refuses end with 2 and name the field', async () => {
    const { exit, err } = await run(['keys', 'create', '', '--scope', 'read'])
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining('body.name') })
  })
})

describe('secrets', () => {
  test('status counts secrets by key, and rewrap ends when none remain', async () => {
    const { project_id } = await json('projects', 'create', 'Shop')
    await json('connections', 'create', 'Cards', '--kind', 'processor', '--project', project_id)
    expect((await run(['secrets', 'status'])).out).toMatch(
      /^Primary key: k1\nKEY +SECRETS +IN SECRET_KEYS\nk1 +\d+ +yes\n$/,
    )
    expect(await json('secrets', 'rewrap')).toEqual({ rewrapped: 0, remaining: 0, unreadable: [] })
  })
})

describe('audit verify', () => {
  test('says that no row was changed, and names a row that was', { timeout: 40_000 }, async () => {
    await json('projects', 'create', 'Audited')
    testApi.advanceClock(CHAINED_AFTER_MS)
    const verified = async () => (await json('audit', 'verify')).verified
    await expect.poll(verified).toBeGreaterThan(0)
    expect((await run(['audit', 'verify'])).out).toMatch(
      /^All \d+ rows are unchanged\. The head is \d+:[0-9a-f]{64}\n$/,
    )

    const [row] = await testApi.stores.audit.findAll({ sequence: 1 })
    await testApi.stores.audit.change({ _id: row?._id ?? '' }, { action: 'project.nothing' })
    const { exit, err } = await run(['audit', 'verify'])
    expect({ exit, err }).toEqual({ exit: 1, err: expect.stringMatching(/Row 1 \(project\.nothing, .+\) was changed/) })
    await testApi.stores.audit.change({ _id: row?._id ?? '' }, { action: row?.action ?? '' })
  })
})

test('tail prints changes as they happen, and ends after --count', async () => {
  const tailing = run(['tail', '--event', 'connection', '--count', '1', '--json'])
  const { project_id } = await json('projects', 'create', 'Shop')
  let isDone = false
  void tailing.then(() => (isDone = true))
  while (!isDone) {
    await run(['connections', 'create', 'Cards', '--kind', 'processor', '--project', project_id])
    await Promise.race([tailing, new Promise(resolve => setTimeout(resolve, 100))])
  }
  const { exit, out } = await tailing
  expect(exit).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ event: 'connection', data: { project_id, name: 'Cards' } })
})

test('replay requests the dead deliveries of a channel, and lists dead letters', async () => {
  expect((await run(['replay', 'dead-letters'])).out).toBe('None.\n')
  expect(await run(['replay', 'deliveries', 'chn_none', '--from', '24h'])).toMatchObject({ exit: 3 })
})

test('replay dismiss-all asks, and dismisses the dead letters of the filter', async () => {
  const { project_id } = await json('projects', 'create', 'Shop')
  for (const name of ['one', 'two']) await storeDeadLetter(testApi, `${name}_${project_id}`, { project_id })
  const args = ['replay', 'dismiss-all', '--project', project_id]
  expect(await run(args, 'no\n')).toMatchObject({
    exit: 1,
    out: '',
    err: expect.stringContaining('Nothing was dismissed'),
  })
  expect(await run([...args, '--yes', '--kind', 'alert'])).toMatchObject({
    exit: 0,
    out: '0 dead letters were dismissed\n',
  })
  expect(await run(args, 'yes\n')).toMatchObject({ exit: 0, out: '2 dead letters were dismissed\n' })
})

describe('erase-person', () => {
  const erased = 'erased: 0 cases, 0 actions, 0 raw bodies, 0 deliveries'

  test('asks first, requests the erasure, and shows its progress', async () => {
    const { project_id } = await json('projects', 'create', 'Erased')
    const args = [
      'erase-person',
      '--project',
      project_id,
      '--email',
      'ann@canary.example',
      '--customer',
      'cus_1',
      '--provider',
      'reseller',
    ]
    expect(await run(args, 'no\n')).toMatchObject({ exit: 1, err: expect.stringContaining('Nothing was erased') })
    expect(await testApi.stores.personErasures.findAll({ project_id })).toEqual([])
    const asked = await run(args, 'yes\n')
    expect(asked).toMatchObject({
      exit: 0,
      out: expect.stringMatching(new RegExp(`^era_\\w+: requested; ${erased}\n$`)),
    })
    const [request] = await testApi.stores.personErasures.findAll({ project_id })
    expect(request?.person).toEqual({ customer_id: 'cus_1', email: 'ann@canary.example', provider: 'reseller' })
    const shown = await run(['erase-person', String(request?._id), '--project', project_id])
    expect(shown.out).toBe(asked.out)
  })

  test('refuses a call without a customer, and one with both a customer and an erasure', async () => {
    for (const args of [[], ['era_1', '--email', 'ann@canary.example']]) {
      expect(await run(['erase-person', ...args])).toMatchObject({ exit: 2, out: '' })
    }
  })
})
