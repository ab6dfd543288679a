import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Identifies a process. A later process with the same pid has another identity. */
export interface ProcessIdentity {
  pid: number
  /** An opaque text, equal only for the same process. See {@link startTimeOf}. */
  startTime: string
}

/**
 * The start time of a process as an opaque text; undefined if there is no such living process. On Linux: field 22 of
 * /proc/<pid>/stat, in clock ticks since boot, after the boot's id, because ticks start at 0 with each boot (man 5
 * proc). On other systems: `ps -o lstart=`. A zombie counts as ended, because it uses no port and no file.
 */
export function startTimeOf(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return process.platform === 'linux' ? linuxStartTime(pid) : psStartTime(pid)
}

/** True if exactly this process still runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return startTimeOf(identity.pid) === identity.startTime
}

/** The identity of a running process; undefined if it has ended. */
export function identify(pid: number): ProcessIdentity | undefined {
  const startTime = startTimeOf(pid)
  return startTime === undefined ? undefined : { pid, startTime }
}

/**
 * Sends a signal to exactly this process. Returns false and sends nothing if it has ended, even if its pid is in use
 * again.
 */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false
  try {
    process.kill(identity.pid, signal)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/**
 * Finds processes by an argument that only they can have (a path inside one data folder). Needed if a launcher was
 * killed between starting a part and recording its pid.
 */
export function findProcessesWithArgument(argument: string): ProcessIdentity[] {
  const pids = process.platform === 'linux' ? linuxPidsWithArgument(argument) : psPidsWithArgument(argument)
  return pids
    .filter(pid => pid !== process.pid)
    .map(identify)
    .filter(found => found !== undefined)
}

/**
 * Reads state and start time from a /proc/<pid>/stat line. The name in parentheses may contain spaces and parentheses.
 */
export function parseLinuxStat(stat: string): { state: string; startTicks: string } | undefined {
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = afterName[0]
  const startTicks = afterName[19] // field 22 of the line; the first two fields are cut off
  return state && startTicks ? { state, startTicks } : undefined
}

let bootId: string | undefined

function linuxStartTime(pid: number): string | undefined {
  try {
    const parsed = parseLinuxStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    if (parsed === undefined || parsed.state === 'Z' || parsed.state === 'X') return undefined
    bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${bootId}:${parsed.startTicks}`
  } catch {
    return undefined
  }
}

function psStartTime(pid: number): string | undefined {
  try {
    const [state, ...started] = ps('-o', 'state=,lstart=', '-p', String(pid)).trim().split(/\s+/)
    return !state || state.startsWith('Z') ? undefined : started.join(' ')
  } catch {
    return undefined
  }
}

function linuxPidsWithArgument(argument: string): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
      } catch {
        return false // ended while we looked, or another user's
      }
    })
}

function psPidsWithArgument(argument: string): number[] {
  return ps('-axww', '-o', 'pid=,command=')
    .split('\n')
    .filter(line => ` ${line} `.includes(` ${argument} `))
    .map(line => Number.parseInt(line.trim(), 10))
}

function ps(...args: string[]): string {
  return execFileSync('/bin/ps', args, { encoding: 'utf8', env: { LC_ALL: 'C' }, timeout: 5000 })
}
