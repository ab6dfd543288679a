import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { pollUntil } from './poll.ts'
import { endProcess } from './process-end.ts'
import {
  findProcessesWithArgument,
  identify,
  isAlive,
  parseLinuxStat,
  signalProcess,
  startTimeOf,
} from './process-identity.ts'

const children: ReturnType<typeof spawn>[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function startNode(script: string, ...args: string[]): ReturnType<typeof spawn> {
  const child = spawn(process.execPath, ['-e', script, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  return child
}

const FOREVER = 'setInterval(() => {}, 1000)'

test.each([
  {
    name: 'a plain name',
    stat: `42 (node) S 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0`,
    state: 'S',
    startTicks: '777',
  },
  {
    name: 'a name with spaces',
    stat: `42 (tmux: server) R 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0`,
    state: 'R',
    startTicks: '5',
  },
  {
    name: 'a name that looks like the end of a name',
    stat: `42 (a) Z 9) Z 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 31 0 0`,
    state: 'Z',
    startTicks: '31',
  },
])('reads state and start time of a stat line with $name', ({ stat, state, startTicks }) => {
  expect(parseLinuxStat(stat)).toEqual({ state, startTicks })
})

test('a stat line that is cut off has no start time', () => {
  expect(parseLinuxStat('42 (node) S 1 42')).toBeUndefined()
})

test('the start time of a process does not change while it runs', () => {
  expect(startTimeOf(process.pid)).toBeDefined()
  expect(startTimeOf(process.pid)).toBe(startTimeOf(process.pid))
})

test.each([{ pid: 0 }, { pid: -1 }, { pid: 1.5 }, { pid: Number.NaN }])(
  '$pid is no process, and never a group of processes',
  ({ pid }) => {
    expect(startTimeOf(pid)).toBeUndefined()
  },
)

test('a process that has ended is not alive, even while nobody has collected its exit', async () => {
  const child = startNode(FOREVER)
  const identity = identify(child.pid!)!
  expect(isAlive(identity)).toBe(true)
  child.kill('SIGKILL')
  expect(await pollUntil(() => (isAlive(identity) ? undefined : 'ended'), { timeoutMs: 5000 })).toBe('ended')
})

test('no signal is sent when the pid belongs to another process by now', async () => {
  const child = startNode(FOREVER)
  const another = { pid: child.pid!, startTime: 'an earlier process of the same number' }
  expect(signalProcess(another, 'SIGKILL')).toBe(false)
  await endProcess(another)
  expect(isAlive(identify(child.pid!)!)).toBe(true)
})

test('a process that ignores SIGTERM is killed after the grace', async () => {
  const child = startNode(`process.on('SIGTERM', () => {}); console.log('ready'); ${FOREVER}`)
  await once(child.stdout!, 'data')
  const identity = identify(child.pid!)!
  await endProcess(identity, 100)
  expect(isAlive(identity)).toBe(false)
})

test('a paused process still ends by itself', async () => {
  const child = startNode(`process.on('SIGTERM', () => process.exit(7)); console.log('ready'); ${FOREVER}`)
  await once(child.stdout!, 'data')
  child.kill('SIGSTOP')
  const exited = once(child, 'exit')
  await endProcess(identify(child.pid!)!, 5000)
  expect(await exited).toEqual([7, null])
})

test('a process is found by an argument that only it has, and not by a part of one', async () => {
  const argument = `/some/folder/${process.pid}/${performance.now()}`
  const child = startNode(`console.log('ready'); ${FOREVER}`, argument)
  await once(child.stdout!, 'data')
  expect(findProcessesWithArgument(argument).map(({ pid }) => pid)).toEqual([child.pid])
  expect(findProcessesWithArgument(argument.slice(0, -1))).toEqual([])
})
