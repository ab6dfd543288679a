/** A lock so that two starts of one clone do not install packages at the same time. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refuse, say } from './messages.mjs'

const LOCK_STALE_AFTER_MS = 60_000

const sleep = ms => new Promise(done => setTimeout(done, ms))

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The processes in a lock: the bootstrap, and its npm, which may run longer than the bootstrap. */
function holdersOf(lock) {
  return readFileSync(lock, 'utf8').split(' ').map(Number).filter(Boolean)
}

/** Waits until this process has the lock. A lock is replaced if its processes have ended or if nobody renews it. */
async function acquire(lock) {
  for (let told = false; ; ) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if (error.code !== 'EEXIST') refuse(`${lock} cannot be written: ${error.message}`, ['Make its folder writable.'])
    }
    try {
      const holders = holdersOf(lock)
      const age = Date.now() - statSync(lock).mtimeMs
      if ((holders.length > 0 && !holders.some(isAlive)) || age > LOCK_STALE_AFTER_MS) {
        // Rename before removing, because only one of two processes that find the same stale lock can rename it.
        const aside = `${lock}.${process.pid}`
        renameSync(lock, aside)
        rmSync(aside, { force: true })
        continue
      }
      if (!told) say(`Another start of this clone is installing (process ${holders.find(isAlive)}); waiting for it`)
      told = true
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
    }
    await sleep(250)
  }
}

/**
 * Runs `work` with the lock. `work` gets a function that adds a process to the lock.
 * @param folder of the lock; created if it is missing
 */
export async function underLock(folder, work) {
  const lock = join(folder, 'install.lock')
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    refuse(`${folder} cannot be made: ${error.message}`, ['Make the clone writable for you, and .backstop a folder.'])
  }
  await acquire(lock)
  const release = () => rmSync(lock, { force: true })
  // process.exit skips `finally`, so the lock is also released by this handler.
  process.once('exit', release)
  const renew = setInterval(() => utimesSync(lock, new Date(), new Date()), 5_000)
  try {
    return await work(pid => writeFileSync(lock, `${process.pid} ${pid}`))
  } finally {
    clearInterval(renew)
    process.off('exit', release)
    release()
  }
}
