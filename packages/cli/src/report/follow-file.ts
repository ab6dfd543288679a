/** Reads a file of lines that another program appends to, and that may be rotated. */
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** How far a file was read. */
export interface FilePosition {
  /** Identifies the file on its disk, also after it was renamed. */
  readonly inode: number
  readonly bytes: number
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
}

const READ_BYTES = 262_144
const POLL_MS = 250

/**
 * The lines of a file from a position. A file that was renamed is read to its end first, if it is still in its folder; a file that was
 * truncated is read from its beginning.
 * @throws Error if the file cannot be read, or has a line of more than 256 KB
 */
export async function* followFile(path: string, options: FollowOptions): AsyncGenerator<LineChunk> {
  const { from, follows, signal, onMissing } = options
  const earlier = from === undefined ? undefined : await openByInode(dirname(path), from.inode)
  if (from !== undefined && earlier === undefined) onMissing()
  let bytes = earlier === undefined ? 0 : (from?.bytes ?? 0)
  let handle = earlier ?? (await open(path))
  try {
    while (true) {
      const { ino: inode, size } = await handle.stat()
      if (size < bytes) bytes = 0
      // Lines that were appended before the file was renamed are read after this question.
      const isCurrent = await hasInode(path, inode)
      const isEnded = !isCurrent || !follows
      const chunk = await readLines(handle, bytes, isEnded)
      if (chunk !== undefined) {
        bytes += chunk.bytes
        yield { lines: chunk.lines, position: { inode, bytes } }
      } else if (!isCurrent) {
        await handle.close()
        handle = await open(path)
        bytes = 0
      } else if (!follows || signal.aborted) return
      else await pause(POLL_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    await handle.close()
  }
}

/** @param isEnded true if the last line counts although no newline ends it @returns undefined if there is no line */
async function readLines(handle: FileHandle, from: number, isEnded: boolean) {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, from)
  const read = buffer.subarray(0, bytesRead)
  const isWhole = isEnded && bytesRead < READ_BYTES
  const bytes = isWhole ? bytesRead : read.lastIndexOf('\n') + 1
  if (bytes === 0 && bytesRead === READ_BYTES) throw new Error(`A line is longer than ${READ_BYTES} bytes`)
  if (bytes === 0) return undefined
  return {
    bytes,
    lines: read
      .toString('utf8', 0, bytes)
      .split('\n')
      .slice(0, read[bytes - 1] === 0x0a ? -1 : undefined),
  }
}

async function openByInode(folder: string, inode: number): Promise<FileHandle | undefined> {
  for (const name of await readdir(folder)) {
    if (await hasInode(join(folder, name), inode)) return open(join(folder, name))
  }
  return undefined
}

/** While a file is rotated, its name may be missing for a moment. */
async function hasInode(path: string, inode: number): Promise<boolean> {
  try {
    return (await stat(path)).ino === inode
  } catch {
    return false
  }
}
