import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pollUntil } from './poll.ts'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { StackError } from './stack-contract.ts'

export interface LockOptions {
  timeoutMs: number
  /** Called once, if another living process holds the lock. */
  onWait?: (holder: ProcessIdentity) => void
}

/**
 * Runs `work` while holding a lock file. A lock is removed if its holder (identified by pid and start time) has ended.
 * @throws StackError if a living process holds the lock for longer than `timeoutMs`
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const release = await acquireLock(path, options)
  try {
    return await work()
  } finally {
    release()
  }
}

async function acquireLock(path: string, { timeoutMs, onWait }: LockOptions): Promise<() => void> {
  mkdirSync(dirname(path), { recursive: true })
  let waited = false
  const release = await pollUntil(
    () => {
      const taken = tryLock(path)
      if (taken !== undefined) return taken
      const holder = readHolder(path)
      if (holder !== undefined && isAlive(holder)) {
        if (!waited) onWait?.(holder)
        waited = true
      } else if (holder !== undefined) {
        removeStaleLock(path, holder)
      }
      return undefined
    },
    { timeoutMs, everyMs: 100 },
  )
  if (release === undefined) {
    throw new StackError(
      `Process ${readHolder(path)?.pid ?? '?'} has held ${path} for more than ${Math.round(timeoutMs / 1000)} s`,
      `Wait for it to end, or stop it, then start again`,
    )
  }
  return release
}

/** Acquires the lock if it is free. A hard link creates name and content at once, so no process reads an empty lock. */
function tryLock(path: string): (() => void) | undefined {
  const own = `${path}.${randomUUID()}`
  const content = JSON.stringify({ ...identify(process.pid), token: own })
  writeFileSync(own, content)
  try {
    linkSync(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  } finally {
    rmSync(own, { force: true })
  }
  return () => {
    // Remove only our own lock: if another process wrongly removed it as stale, the file belongs to a new holder.
    if (readText(path) === content) rmSync(path, { force: true })
  }
}

/**
 * Removes a stale lock. Two waiting processes may see the same stale lock, and the slower one must not remove the new
 * lock of the faster one. The lock is therefore moved aside and read again; a lock that is not the stale one is moved
 * back.
 */
function removeStaleLock(path: string, stale: ProcessIdentity): void {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
  } catch {
    return // another process removed it first
  }
  const moved = readHolder(aside)
  if (moved !== undefined && (moved.pid !== stale.pid || moved.startTime !== stale.startTime)) {
    try {
      linkSync(aside, path)
    } catch {
      // a third one has it: that one and the one we moved would both hold it; microseconds wide, and only on a crash
    }
  }
  rmSync(aside, { force: true })
}

function readHolder(path: string): ProcessIdentity | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  try {
    const { pid, startTime } = JSON.parse(text) as ProcessIdentity
    return { pid, startTime }
  } catch {
    return { pid: 0, startTime: 'unreadable' } // counts as stale
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
