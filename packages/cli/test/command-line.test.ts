/** What each call of the command answers and ends with, against a management API that answers as ours does. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommandLine } from '../src/command-line.ts'
import { type ApiStandIn, action, KEY, startApiStandIn } from './api-stand-in.ts'

let api: ApiStandIn
/** Where nothing runs. */
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
  test('explain tells a person why', async () => {
    const { exit, out, err } = await backstop(['explain', 'act_known'], here())
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/^act_known: refund of EUR 24.99 on pi_1 \(re_1\)[\s\S]*Nothing explains it/)
  })

  test('explain --json tells a program, as the API does', async () => {
    const { exit, out } = await backstop(['explain', '--json', 'act_known'], here())
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toEqual(action)
  })

  test('explain follows an action to what it turned out to be', async () => {
    const { out } = await backstop(['explain', 'act_merged'], here())
    expect(out).toMatch(/^act_merged turned out to be act_known/)
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
  ])('$args shows how it is called', async ({ args }) => {
    const usage = expect.stringMatching(
      /^backstop explain <action_id>[\s\S]*backstop dry-run --from[\s\S]*backstop keys recover/,
    )
    expect(await backstop(args)).toEqual({ exit: 0, out: usage, err: '' })
  })

  test.each([
    { args: ['explain', 'act_1', '--colour'], says: 'There is no option --colour' },
    { args: ['explain', 'act_1', '--colour=red'], says: 'There is no option --colour' },
    { args: ['dry-run', '-f', '7d'], says: 'There is no option -f' },
    { args: ['dry-run', '--from'], says: '--from wants a value' },
    { args: ['dry-run', '--from', '--json'], says: '--from wants a value' },
    { args: ['dry-run', '--out-of-band', '--from', '7d'], says: '--out-of-band wants a value' },
    { args: ['keys', 'recover', '--json'], says: 'There is no option --json' },
    { args: ['dry-run', '--json=yes'], says: '--json takes no value' },
  ])('$args ends with 2 and says: $says', async ({ args, says }) => {
    const err = `${says}\n\nbackstop help  shows how it is called\n`
    expect(await backstop(args)).toEqual({ exit: 2, out: '', err })
  })

  test.each([
    { name: 'nothing to do', args: [], exit: 2, says: /Say what to do[\s\S]*backstop explain/ },
    { name: 'a command that does not exist', args: ['explode'], exit: 2, says: /no command explode/ },
    { name: 'no action', args: ['explain'], exit: 2, says: /Give the id of one action/ },
    { name: 'an id of something else', args: ['explain', 'inc_1'], exit: 2, says: /inc_1 is no id of an action/ },
    { name: 'an action that is not there', args: ['explain', 'act_none'], exit: 3, says: /There is no such action/ },
    { name: 'an answer that makes no sense', args: ['explain', 'act_broken'], exit: 1, says: /answered 500/ },
  ])('with $name ends with $exit and says so', async ({ args, exit, says }) => {
    const ended = await backstop(args, here())
    expect(ended).toMatchObject({ exit, out: '', err: expect.stringMatching(says) })
  })

  test.each([
    { name: 'a key that is refused', more: { BACKSTOP_API_KEY: 'bsk_wrong' }, exit: 4, says: /The key was refused/ },
    {
      name: 'nothing that answers',
      more: { BACKSTOP_URL: 'http://127.0.0.1:9' },
      exit: 5,
      says: /Nothing answers at http/,
    },
    { name: 'a URL without its key', more: { BACKSTOP_API_KEY: '' }, exit: 2, says: /BACKSTOP_API_KEY is not set/ },
    {
      name: 'nothing that runs',
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
    { name: 'no window', args: [], environment: {}, exit: 2, says: /where to begin/ },
    { name: 'nothing that runs', args: ['--from', '1h'], environment: {}, exit: 5, says: /No Backstop runs/ },
    {
      name: 'a MONGO_URL that is none',
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
    { name: 'no task', args: [], exit: 2, says: /Name one task[\s\S]*backstop keys recover/ },
    { name: 'an unknown task', args: ['delete'], exit: 2, says: /Name one task/ },
    { name: 'nothing that runs', args: ['recover'], exit: 5, says: /No Backstop runs/ },
  ])('keys with $name ends with $exit and says so', async ({ args, exit, says }) => {
    const ended = await backstop(['keys', ...args])
    expect(ended).toMatchObject({ exit, out: '', err: expect.stringMatching(says) })
  })
})
