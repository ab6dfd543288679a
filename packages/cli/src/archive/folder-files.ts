import type promises from 'node:fs/promises'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandFault } from '../exit-code.ts'
import { readSums, SUMS } from './part-file.ts'

/** The functions of node:fs/promises that change an archive. */
export type ArchiveFiles = Pick<typeof promises, 'link' | 'mkdir' | 'open' | 'rename' | 'rm' | 'writeFile'>

/** The end of the name of a file that is being written. */
export const UNFINISHED = '.tmp'
/** The file that a run holds while it writes to a folder. */
export const LOCK = '.lock'
/** Archives have ids of customers: only the owner reads them. */
const MODE = { folder: 0o700, file: 0o600 }

/** Makes a folder, and makes its name and those of new parents durable. */
export async function makeFolder(folder: string, files: ArchiveFiles): Promise<void> {
  const first = await files.mkdir(folder, { recursive: true, mode: MODE.folder })
  if (first === undefined) return
  for (let path = folder; path !== dirname(first); path = dirname(path)) await syncFolder(dirname(path), files)
}

/**
 * Lets only one run write to a folder. The lock of a process of this host that has ended is taken over.
 * @returns what removes the lock
 * @throws CommandFault while another run holds it
 */
export async function lockFolder(folder: string, files: ArchiveFiles): Promise<() => Promise<void>> {
  const path = join(folder, LOCK)
  const mine = `${process.pid} ${hostname()}`
  if (!(await writeNew(path, mine, files))) {
    const holder = await readFile(path, 'utf8').catch(() => '')
    const [pid, host] = holder.split(' ')
    if (host !== hostname() || isRunning(Number(pid))) throw lockedBy(holder, path)
    // Another run may have taken the lock over since it was read.
    const taken = `${path}.${process.pid}${UNFINISHED}`
    await files.rename(path, taken)
    if ((await readFile(taken, 'utf8')) !== holder) await files.link(taken, path)
    await files.rm(taken)
    if (!(await writeNew(path, mine, files))) throw lockedBy('another run', path)
  }
  return () => files.rm(path, { force: true })
}

function lockedBy(holder: string, path: string): CommandFault {
  const remedy = `Wait until it has ended. If no run is working, remove ${path}`
  return new CommandFault('failed', `Another run writes to this folder: ${holder || 'it has just begun'}`, remedy)
}

/** @returns false if the file exists */
async function writeNew(path: string, text: string, files: ArchiveFiles): Promise<boolean> {
  try {
    await files.writeFile(path, text, { flag: 'wx', mode: MODE.file })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Writes a file that only its owner reads, onto the disk. */
export async function storeFile(
  path: string,
  content: string | AsyncIterable<Uint8Array>,
  files: ArchiveFiles,
): Promise<void> {
  await files.writeFile(path, content, { flush: true, mode: MODE.file })
}

/** Adds a part to SHA256SUMS, durably. */
export async function addSum(folder: string, name: string, sha256: string, files: ArchiveFiles): Promise<void> {
  const path = join(folder, SUMS)
  const sums = (await readSums(folder)).set(name, sha256)
  const text = [...sums].map(([file, sum]) => `${sum}  ${file}\n`).join('')
  await storeFile(path + UNFINISHED, text, files)
  await files.rename(path + UNFINISHED, path)
  await syncFolder(folder, files)
}

/** Makes new names in a folder durable. */
export async function syncFolder(folder: string, files: ArchiveFiles): Promise<void> {
  const handle = await files.open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
