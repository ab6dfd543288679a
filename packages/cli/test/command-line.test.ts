/** Tests the output and the exit code of each command against a stand-in for the management API. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommandLine } from '../src/command-line.ts'
import { type ApiStandIn, action, KEY, startApiStandIn } from './api-stand-in.ts'

let api: ApiStandIn
/** A folder without a running product. */
let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-cli-'))
  api = await startApiStandIn()
})

afterAll(async () => {
  await api?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function backstop(args: readonly string[], environment: Record<string, string> = {}, cwd = folder) {
  const [out, err]: [string[], string[]] = [[], []]
  const exit = await runCommandLine(args, {
    environment,
    folder: cwd,
    out: text => out.push(text),
    err: text => err.push(text),
    isTerminal: false,
    operator: 'ada@laptop',
    now: Date.now,
  })
  return { exit, out: out.join(''), err: err.join('') }
}

const here = () => ({ BACKSTOP_URL: `${api.url}/`, BACKSTOP_API_KEY: KEY })

describe('backstop', () => {
  test('explain prints the explanation for people', async () => {
    const { exit, out, err } = await backstop(['explain', 'act_known'], here())
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/^act_known: refund of EUR 24.99 on pi_1 \(re_1\)[\s\S]*Nothing explains it/)
  })

  test('explain --json prints the action as the API answers it', async () => {
    const { exit, out } = await backstop(['explain', '--json', 'act_known'], here())
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toEqual(action)
  })

  test('explain follows a merged action', async () => {
    const { out } = await backstop(['explain', 'act_merged'], here())
    expect(out).toMatch(/^act_merged was merged into act_known/)
  })

  test('explain finds a running npm start from a folder below it', async () => {
    const below = join(folder, 'clone', 'services')
    mkdirSync(join(folder, 'clone', '.backstop'), { recursive: true })
    mkdirSync(below, { recursive: true })
    const run = {
      admin: api.url,
      key: KEY,
      mongo: 'mongodb://127.0.0.1:9',
      database: 'backstop',
      recheck_delay_ms: 60_000,
    }
    writeFileSync(join(folder, 'clone', '.backstop', 'run.json'), JSON.stringify({ ...run, mail: '' }))
    const { exit, out } = await backstop(['explain', 'act_known'], {}, below)
    expect({ exit, out }).toEqual({ exit: 0, out: expect.stringContaining('Nothing explains it') })
  })

  test.each([
    { args: ['help'] },
    { args: ['--help'] },
    { args: ['-h'] },
    { args: ['explain', '--help'] },
    { args: ['dry-run', '--help'] },
    { args: ['dry-run', '--from', '7d', '-h'] },
    { args: ['keys', '--help'] },
  ])('$args shows the usage', async ({ args }) => {
    const usage = expect.stringMatching(
      /^backstop explain <action_id>[\s\S]*backstop dry-run --from[\s\S]*backstop keys recover/,
    )
    expect(await backstop(args)).toEqual({ exit: 0, out: usage, err: '' })
  })

  test.each([
    { args: ['explain', 'act_1', '--colour'], says: 'There is no option --colour' },
    { args: ['explain', 'act_1', '--colour=red'], says: 'There is no option --colour' },
    { args: ['dry-run', '-f', '7d'], says: 'There is no option -f' },
    { args: ['dry-run', '--from'], says: '--from needs a value' },
    { args: ['dry-run', '--from', '--json'], says: '--from needs a value' },
    { args: ['dry-run', '--out-of-band', '--from', '7d'], says: '--out-of-band needs a value' },
    { args: ['keys', 'recover', '--json'], says: 'There is no option --json' },
    { args: ['dry-run', '--json=yes'], says: '--json takes no value' },
  ])('$args ends with 2 and says: $says', async ({ args, says }) => {
    const err = `${says}\n\nbackstop help  shows the usage\n`
    expect(await backstop(args)).toEqual({ exit: 2, out: '', err })
  })

  test.each([
    { name: 'no command', args: [], exit: 2, says: /Name a command[\s\S]*backstop explain/ },
    { name: 'an unknown command', args: ['explode'], exit: 2, says: /no command explode/ },
    { name: 'no action', args: ['explain'], exit: 2, says: /Give the id of one action/ },
    { name: 'the id of an incident', args: ['explain', 'inc_1'], exit: 2, says: /inc_1 is not the id of an action/ },
    { name: 'an unknown action', args: ['explain', 'act_none'], exit: 3, says: /There is no such action/ },
    { name: 'an unusable answer', args: ['explain', 'act_broken'], exit: 1, says: /answered 500/ },
  ])('with $name ends with $exit and says so', async ({ args, exit, says }) => {
    const ended = await backstop(args, here())
    expect(ended).toMatchObject({ exit, out: '', err: expect.stringMatching(says) })
  })

  test.each([
    { name: 'a refused key', more: { BACKSTOP_API_KEY: 'bsk_wrong' }, exit: 4, says: /The key was refused/ },
    {
      name: 'no answer',
      more: { BACKSTOP_URL: 'http://127.0.0.1:9' },
      exit: 5,
      says: /Nothing answers at http/,
    },
    { name: 'a URL without its key', more: { BACKSTOP_API_KEY: '' }, exit: 2, says: /BACKSTOP_API_KEY is not set/ },
    {
      name: 'no running product',
      more: { BACKSTOP_URL: '', BACKSTOP_API_KEY: '' },
      exit: 5,
      says: /No Backstop runs[\s\S]*npm start/,
    },
  ])('with $name ends with $exit and says so', async ({ more, exit, says }) => {
    const ended = await backstop(['explain', 'act_known'], { ...here(), ...more })
    expect(ended).toMatchObject({ exit, out: '', err: expect.stringMatching(says) })
    expect(ended.err).not.toContain('bsk_')
  })

  test.each([
    { name: 'no window', args: [], environment: {}, exit: 2, says: /start of the window/ },
    { name: 'no running product', args: ['--from', '1h'], environment: {}, exit: 5, says: /No Backstop runs/ },
    {
      name: 'an invalid MONGO_URL',
      args: ['--from', '1h'],
      environment: { MONGO_URL: 'db:secret@host' },
      exit: 2,
      says: /MONGO_URL/,
    },
  ])('dry-run with $name ends with $exit and says so', async ({ args, environment, exit, says }) => {
    const ended = await backstop(['dry-run', ...args], environment as Record<string, string>)
    expect(ended).toMatchObject({ exit, out: '', err: expect.stringMatching(says) })
    expect(ended.err).not.toContain('secret')
  })

  test.each([
    { name: 'no subcommand', args: [], exit: 2, says: /Name a subcommand[\s\S]*backstop keys recover/ },
    { name: 'an unknown subcommand', args: ['delete'], exit: 2, says: /Name a subcommand/ },
    { name: 'no running product', args: ['recover'], exit: 5, says: /No Backstop runs/ },
  ])('keys with $name ends with $exit and says so', async ({ args, exit, says }) => {
    const ended = await backstop(['keys', ...args])
    expect(ended).toMatchObject({ exit, out: '', err: expect.stringMatching(says) })
  })
})
