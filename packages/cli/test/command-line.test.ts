/** Tests the output and the exit code of each command against a stand-in for the management API. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProgram, runCommandLine } from '../src/command-line.ts'
import type { Surroundings } from '../src/surroundings.ts'
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

async function backstop(
  args: readonly string[],
  environment: Record<string, string> = {},
  { cwd = folder, input = '', isTerminal = false } = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const exit = await runCommandLine(args, {
    environment: { HOME: folder, ...environment },
    readInput: async () => input,
    folder: cwd,
    out: text => out.push(text),
    err: text => err.push(text),
    isTerminal,
    operator: 'ada@laptop',
    now: Date.now,
  })
  return { exit, out: out.join(''), err: err.join('') }
}

/** The paths of all commands that do something, e.g. `incidents list`. */
function leavesOf({ commands }: Command, path = ''): string[] {
  return commands.flatMap(command => {
    const name = `${path} ${command.name()}`.trim()
    return command.commands.length === 0 ? [name] : leavesOf(command, name)
  })
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
    const { exit, out } = await backstop(['explain', 'act_known'], {}, { cwd: below })
    expect({ exit, out }).toEqual({ exit: 0, out: expect.stringContaining('Nothing explains it') })
  })

  test.each([['help'], ['--help'], ['-h']])('%s shows all commands and the exit codes', async (...args) => {
    const { exit, out, err } = await backstop(args)
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/Usage: backstop [\s\S]*incidents [\s\S]*dry-run [\s\S]*Exit codes: 0 done, 1 failed/)
  })

  test.each(leavesOf(createProgram({} as Surroundings)))('the help of %s has an example that names it', async path => {
    const { exit, out } = await backstop([...path.split(' '), '--help'])
    expect(exit).toBe(0)
    expect(out).toMatch(new RegExp(`Example:\n[\\s\\S]*backstop ${path}\\b`))
    expect(out).toMatch(path === 'completion' ? /<shell>/ : /--json/)
  })

  test.each([
    { args: ['explain', 'act_1', '--colour'], says: "Unknown option '--colour'" },
    { args: ['explain', 'act_1', '--colour=red'], says: "Unknown option '--colour=red'" },
    { args: ['dry-run', '--out-of-band', 'alert', '-f'], says: "Unknown option '-f'" },
    { args: ['dry-run', '--from'], says: "Option '--from <time>' argument missing" },
    { args: ['dry-run', '--refunded-twice-within', '721'], says: 'Give a whole number of hours from 1 to 720.' },
    {
      args: ['dry-run', '--out-of-band', 'alert', 'now'],
      says: "Too many arguments for 'dry-run'. Expected 0 arguments but got 1.",
    },
    { args: ['incidents', 'list', '--limit', '0'], says: 'Give a whole number from 1.' },
    { args: ['incidents', 'resolve', 'inc_1', '--reason', 'whim'], says: 'Allowed choices are our_own_change' },
    { args: ['explain'], says: "Missing required argument 'action_or_incident_id'" },
    { args: ['exlpain'], says: "Unknown command 'exlpain'\n(Did you mean explain?)" },
    { args: ['keys', 'delete'], says: "Unknown command 'delete'" },
  ])('$args ends with 2 and says: $says', async ({ args, says }) => {
    const ended = await backstop(args)
    expect(ended).toMatchObject({ exit: 2, out: '', err: expect.stringContaining(says) })
    expect(ended.err).toMatch(/--help {2}shows its options\n$/)
  })

  test('login stores the address and the key in a file that only the user can read, and logout removes it', async () => {
    const home = { HOME: join(folder, 'home') }
    const path = join(home.HOME, '.config', 'backstop', 'login.json')
    const ended = await backstop(['login', `${api.url}/`], home, { input: `${KEY}\n` })
    expect(ended).toEqual({ exit: 0, err: '', out: `Logged in to ${api.url}. The key is stored in ${path}\n` })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await backstop(['explain', 'act_known'], home)).exit).toBe(0)
    expect((await backstop(['logout'], home)).exit).toBe(0)
    expect((await backstop(['explain', 'act_known'], home)).exit).toBe(5)
  })

  test('login stores nothing if the key is refused', async () => {
    const home = { HOME: join(folder, 'refused') }
    const ended = await backstop(['login', api.url], home, { input: 'bsk_wrong' })
    expect(ended).toMatchObject({ exit: 4, err: expect.stringContaining('The key was refused') })
    expect(existsSync(join(home.HOME, '.config'))).toBe(false)
  })

  test('doctor says what it did not check, and ends with 5 if it checked nothing', async () => {
    const { exit, out, err } = await backstop(['doctor'])
    expect({ exit, err }).toEqual({ exit: 5, err: expect.stringContaining('Nothing was checked') })
    expect(out.split('\n').filter(line => line !== '')).toEqual([
      expect.stringMatching(/^- not checked: the management API.*npm start/),
      '- not checked: Kafka, its topics and consumers (KAFKA_BROKERS is not set)',
      '- not checked: MongoDB, its indexes and disk (MONGO_URL is not set)',
      '- not checked: the schema registry (SCHEMA_REGISTRY_URL is not set)',
    ])
  })

  test('doctor shows on a terminal that it works, and clears that line before the result', async () => {
    const { err } = await backstop(['doctor'], {}, { isTerminal: true })
    const [waiting, result] = err.split('\r\u001b[K')
    expect(waiting).toMatch(/^Checking; /)
    expect(result).toMatch(/^Nothing was checked/)
  })

  test('doctor names a management API that does not answer, and a refused key', async () => {
    const down = await backstop(['doctor'], { ...here(), BACKSTOP_URL: 'http://127.0.0.1:9' })
    expect(down).toMatchObject({ exit: 1, out: expect.stringMatching(/^✗ api_down: .*\n {4}Start admin-api/) })
    const refused = await backstop(['doctor'], { ...here(), BACKSTOP_API_KEY: 'bsk_wrong' })
    expect(refused).toMatchObject({ exit: 1, out: expect.stringMatching(/^✗ key_refused: /), err: '1 fault found\n' })
  })

  test.each([
    { name: 'no command', args: [], exit: 2, says: /Name a command[\s\S]*explain/ },
    { name: 'the id of a project', args: ['explain', 'prj_1'], exit: 2, says: /prj_1 is not the id of an action/ },
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

  test('dry-run without a running product says so, and with an empty window too', async () => {
    const nowhere = await backstop(['dry-run', '--out-of-band', 'alert'])
    expect(nowhere).toMatchObject({ exit: 5, out: '', err: expect.stringMatching(/No Backstop runs/) })
    const empty = await backstop(['dry-run', '--out-of-band', 'alert', '--from', '1h', '--to', '2h'], here())
    expect(empty).toMatchObject({ exit: 2, out: '', err: expect.stringMatching(/The window is empty/) })
  })

  test.each([
    { name: 'no subcommand', args: [], exit: 2, says: /Name a command[\s\S]*recover/ },
    { name: 'no running product', args: ['recover'], exit: 5, says: /No Backstop runs/ },
  ])('keys with $name ends with $exit and says so', async ({ args, exit, says }) => {
    const ended = await backstop(['keys', ...args])
    expect(ended).toMatchObject({ exit, out: '', err: expect.stringMatching(says) })
  })
})
