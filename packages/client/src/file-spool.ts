/** Keeps the waiting reports of a reporter in files, so that they survive a restart. For Node only. */
import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Report } from './reporter/report.ts'
import type { Spool } from './reporter/report-queue.ts'

export interface FileSpoolOptions {
  /**
   * The folder of the files, which only this account may use then (mode 0700, files 0600). Several processes may share it: each writes
   * its own file.
   */
  readonly folder: string
  /** Called when the files cannot be written or read. Default: a warning on the console. */
  readonly onError?: (error: unknown) => void
}

type Line = { readonly save: Report } | { readonly remove: string }

const SUFFIX = '.ndjson'
/** The file is rewritten when it is this large and mostly about delivered reports. */
const REWRITE_BYTES = 1_048_576
/** Reports hold payments, amounts and reasons, so no other account may read them. */
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
/** The mode of folders like /tmp, which others use. */
const STICKY = 0o1000
/** The files of this process, also if this module is loaded several times. */
const OWN_FILES = Symbol.for('backstop.spool.files')
const shared = globalThis as { [OWN_FILES]?: Set<string> }
shared[OWN_FILES] ??= new Set()
const ownFiles = shared[OWN_FILES]

/**
 * Creates a spool. A starting process takes over the files of processes that have ended. Should two processes take over the same report,
 * it is sent twice and recorded once.
 */
export function createFileSpool({ folder, onError = warn }: FileSpoolOptions): Spool {
  return new FileSpool(folder, onError)
}

class FileSpool implements Spool {
  readonly #folder: string
  readonly #onError: (error: unknown) => void
  readonly #name = newName()
  readonly #file: string
  readonly #waiting = new Map<string, Report>()
  #unwritten = ''
  #fileBytes = 0
  /** When the file is this large, a rewrite is tried. */
  #rewriteAtBytes = REWRITE_BYTES
  #writing: Promise<void> | undefined
  #isRestricted = false

  constructor(folder: string, onError: (error: unknown) => void) {
    this.#folder = folder
    this.#onError = onError
    this.#file = join(folder, this.#name)
  }

  async load(): Promise<Report[]> {
    const found: Report[] = []
    try {
      await this.#openFolder()
      for (const other of await readdir(this.#folder)) {
        if (!other.includes(SUFFIX)) continue
        await restrict(join(this.#folder, other), FILE_MODE).catch(this.#onError)
        if (!other.endsWith(SUFFIX) || isInUse(other)) continue
        const own = await takeOver(this.#folder, other)
        if (own === undefined) continue
        const reports = readLines(await readFile(join(this.#folder, own), 'utf8'))
        for (const report of reports) this.save(report)
        await this.#writing
        await rm(join(this.#folder, own))
        found.push(...reports)
      }
    } catch (error) {
      this.#onError(error)
    }
    return found
  }

  save(report: Report): void {
    this.#waiting.set(report.id, report)
    this.#write({ save: report })
  }

  remove(id: string): void {
    this.#waiting.delete(id)
    this.#write({ remove: id })
  }

  async close(): Promise<void> {
    await this.#writing
    ownFiles.delete(this.#name)
    if (this.#waiting.size === 0) await rm(this.#file, { force: true }).catch(this.#onError)
  }

  async #openFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    if (this.#isRestricted) return
    this.#isRestricted = true
    await restrict(this.#folder, FOLDER_MODE).catch(this.#onError)
  }

  #write(line: Line): void {
    this.#unwritten += `${JSON.stringify(line)}\n`
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
  }

  async #writeAll(): Promise<void> {
    try {
      await this.#openFolder()
      while (this.#unwritten !== '') {
        const text = this.#unwritten
        this.#unwritten = ''
        await appendFile(this.#file, text, { mode: FILE_MODE })
        this.#fileBytes += text.length
        if (this.#fileBytes > this.#rewriteAtBytes) await this.#rewrite()
      }
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Replaces the file with one that has only the waiting reports. */
  async #rewrite(): Promise<void> {
    const lines = [...this.#waiting.values()].map(report => `${JSON.stringify({ save: report } satisfies Line)}\n`)
    const text = lines.join('')
    // The next time after as much again, so that a large queue is not written out with each report.
    this.#rewriteAtBytes = Math.max(REWRITE_BYTES, 2 * this.#fileBytes)
    if (text.length > this.#fileBytes / 2) return
    this.#unwritten = ''
    await writeFile(`${this.#file}.new`, text, { mode: FILE_MODE })
    await rename(`${this.#file}.new`, this.#file)
    this.#fileBytes = text.length
    this.#rewriteAtBytes = Math.max(REWRITE_BYTES, 2 * text.length)
  }
}

/** Takes the rights of other accounts away. A file that is missing is already taken over by another process. */
async function restrict(path: string, mode: number): Promise<void> {
  try {
    const { mode: found } = await stat(path)
    if ((found & 0o077) === 0) return
    if ((found & STICKY) !== 0) throw new Error(`${path} is shared by all accounts. Use a folder of its own`)
    await chmod(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** True if the process of a file still runs on this host. After a restart another process may have its number. */
function isInUse(name: string): boolean {
  if (ownFiles.has(name)) return true
  const [random, pid] = name.slice(0, -SUFFIX.length).split('.').toReversed()
  const isOfThisHost = name === `${hostname()}.${pid}.${random}${SUFFIX}`
  if (!isOfThisHost || Number(pid) === process.pid) return false
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A new name for a file of this process. */
function newName(): string {
  const random = crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)
  const name = `${hostname()}.${process.pid}.${random}${SUFFIX}`
  ownFiles.add(name)
  return name
}

/**
 * Makes a file one of this process, by a new name: only one of several starting processes can rename it.
 * @returns the new name; undefined if another process was first
 */
async function takeOver(folder: string, other: string): Promise<string | undefined> {
  const own = newName()
  try {
    await rename(join(folder, other), join(folder, own))
    return own
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function readLines(text: string): Report[] {
  const waiting = new Map<string, Report>()
  for (const part of text.split('\n')) {
    let line: Line
    try {
      line = JSON.parse(part)
    } catch {
      // The last line is incomplete if its process ended while it was written.
      continue
    }
    if ('save' in line) waiting.set(line.save.id, line.save)
    else waiting.delete(line.remove)
  }
  return [...waiting.values()]
}

function warn(error: unknown): void {
  console.warn('Backstop: the spool of reports failed', error)
}
