/** Reads a file of lines that another program appends to, and that may be rotated. */
import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** How far a file was read. */
export interface FilePosition {
  /** Identifies the file on its disk, also after it was renamed. */
  readonly inode: number
  readonly bytes: number
  /** A hash of its first bytes, because a new file may get the inode of one that was deleted. */
  readonly head: string
}

export interface LineChunk {
  readonly lines: readonly string[]
  /** The position after the lines. */
  readonly position: FilePosition
}

export interface FollowOptions {
  /** Where to begin; undefined for the beginning of the file. */
  readonly from: FilePosition | undefined
  /** True to wait for further lines at the end of the file. The last line is read when it is complete. */
  readonly follows: boolean
  /** Ends the wait for further lines. */
  readonly signal: AbortSignal
  /** Called if the file of the position is no longer there, so that its last lines may be missing. */
  readonly onMissing: () => void
  /** How long a renamed file is still read after its last line, in milliseconds: its program may write to it a little longer. */
  readonly graceMs?: number
}

const READ_BYTES = 262_144
const LONGEST_LINE_BYTES = 16 * 1_048_576
const HEAD_BYTES = 256
const POLL_MS = 250
const GRACE_MS = 5_000
/** Files of this command beside the file that it reads, and compressed files, which have no readable lines. */
const OTHER_FILES = /\.(?:position|position\.new|refused|gz|bz2|xz|zst)$/

/**
 * The lines of a file from a position. Files that were renamed since are read to their ends first, in the order in which they were made, if
 * they are still in the folder. A file that was truncated is read from its beginning.
 * @throws Error if the file cannot be read, or has a line of more than 16 MB
 */
export async function* followFile(path: string, options: FollowOptions): AsyncGenerator<LineChunk> {
  const { from, follows, signal, onMissing, graceMs = GRACE_MS } = options
  const earlier = from === undefined ? undefined : await openFrom(path, from)
  if (from !== undefined && earlier === undefined) onMissing()
  let handle = earlier ?? (await open(path))
  let at: FilePosition = earlier === undefined ? await beginningOf(handle) : (from as FilePosition)
  let grewAtMs = performance.now()
  try {
    while (true) {
      if (!(await continues(handle, at))) at = await beginningOf(handle)
      // Lines that were appended before the next file was made are read after this question.
      const next = await nextFile(path, handle)
      const isOver = next !== undefined && (!follows || performance.now() >= grewAtMs + graceMs)
      const chunk = await readLines(handle, at.bytes, isOver || (next === undefined && !follows))
      if (chunk !== undefined) {
        at = { ...at, bytes: at.bytes + chunk.bytes, head: await headOf(handle, at.bytes + chunk.bytes) }
        grewAtMs = performance.now()
        yield { lines: chunk.lines, position: at }
      } else if (isOver && next !== undefined) {
        await handle.close()
        handle = await open(next)
        at = await beginningOf(handle)
        grewAtMs = performance.now()
      } else if (!follows || signal.aborted) return
      else await pause(POLL_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    await handle.close()
  }
}

/** @param isEnded true if the last line counts although no newline ends it @returns undefined if there is no line */
async function readLines(handle: FileHandle, from: number, isEnded: boolean) {
  for (let size = READ_BYTES; size <= LONGEST_LINE_BYTES; size *= 2) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, from)
    const read = buffer.subarray(0, bytesRead)
    const bytes = isEnded && bytesRead < size ? bytesRead : read.lastIndexOf('\n') + 1
    if (bytes > 0) {
      const lines = read.toString('utf8', 0, bytes).split('\n')
      return { bytes, lines: read[bytes - 1] === 0x0a ? lines.slice(0, -1) : lines }
    }
    if (bytesRead < size) return undefined
  }
  throw new Error(`The line at byte ${from} is longer than 16 MB`)
}

async function beginningOf(handle: FileHandle): Promise<FilePosition> {
  return { inode: (await handle.stat()).ino, bytes: 0, head: await headOf(handle, 0) }
}

/** True if the file has the bytes before the position. */
async function continues(handle: FileHandle, { bytes, head }: FilePosition): Promise<boolean> {
  return (await handle.stat()).size >= bytes && (await headOf(handle, bytes)) === head
}

/** A hash of the first bytes before a position. */
async function headOf(handle: FileHandle, bytes: number): Promise<string> {
  const size = Math.min(bytes, HEAD_BYTES)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, size, 0)
  return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('base64')
}

interface FoundFile {
  readonly path: string
  readonly inode: number
  readonly madeAtMs: number
}

/** The file and those that it was renamed to, in the order in which they were made. */
async function filesOf(path: string): Promise<FoundFile[]> {
  const names = (await readdir(dirname(path))).filter(
    name => name.startsWith(basename(path)) && !OTHER_FILES.test(name),
  )
  const found = await Promise.all(
    names.map(async name => {
      const other = join(dirname(path), name)
      // It may be renamed in this moment.
      const known = await stat(other).catch(() => undefined)
      return known === undefined ? [] : [{ path: other, inode: known.ino, madeAtMs: known.birthtimeMs }]
    }),
  )
  return found.flat().sort((a, b) => a.madeAtMs - b.madeAtMs)
}

async function openFrom(path: string, from: FilePosition): Promise<FileHandle | undefined> {
  const found = (await filesOf(path)).find(({ inode }) => inode === from.inode)
  if (found === undefined) return undefined
  const handle = await open(found.path)
  if (found.path === path || (await continues(handle, from))) return handle
  await handle.close()
  return undefined
}

/** The file that was made after an open one. */
async function nextFile(path: string, handle: FileHandle): Promise<string | undefined> {
  const { ino, birthtimeMs } = await handle.stat()
  return (await filesOf(path)).find(({ inode, madeAtMs }) => inode !== ino && madeAtMs > birthtimeMs)?.path
}
