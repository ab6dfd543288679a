import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ArchivedVersion, ArchiveEnd, archivedVersionLine } from '@backstop/contracts'
import { streamLines } from '@backstop/kit/stream-lines'

/** The end of the name of a part whose actions may still be in the database. */
export const STORED = '.stored'
/** The end of the name of a part. It follows the month and the id of the part. */
const PART = '.ndjson'
/** A file in the form of sha256sum, with each part of its folder. */
export const SUMS = 'SHA256SUMS'

/** One part of an archive, as its file has it. */
export interface Part {
  /** Its last line; undefined if it is not one. */
  readonly end: ArchiveEnd | undefined
  /** True if its lines are those of its statement. */
  readonly isWhole: boolean
  readonly actions: readonly ArchivedVersion[]
  /** SHA-256 of the file, in hex. */
  readonly sha256: string
}

/** The name of the file of a part. */
export function partName({ month, archive_id }: ArchiveEnd['statement']): string {
  return `${month}.${archive_id}${PART}`
}

/** The names of the parts in a folder, in the order of their months. */
export async function listParts(folder: string): Promise<{ readonly name: string; readonly isStored: boolean }[]> {
  const files = (await readdir(folder)).toSorted()
  return files
    .map(file => ({
      name: file.endsWith(STORED) ? file.slice(0, -STORED.length) : file,
      isStored: file.endsWith(STORED),
    }))
    .filter(({ name }) => name.endsWith(PART))
}

/** The folders of an archive that have parts or SHA256SUMS: itself, or one for each project. */
export async function listFolders(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const projects = entries.filter(entry => entry.isDirectory()).map(({ name }) => join(directory, name))
  const isProject = entries.some(({ name }) => name === SUMS || name.includes(PART))
  return isProject ? [directory, ...projects] : projects
}

/** The lines of a part: first its actions, then its statement. */
export function linesOf(path: string): AsyncIterable<string> {
  return streamLines(createReadStream(path))
}

/** Reads a part and checks its lines against its statement. The signature is not checked. */
export async function readPart(path: string): Promise<Part> {
  const [file, lines, versions] = [createHash('sha256'), createHash('sha256'), createHash('sha256')]
  const actions: ArchivedVersion[] = []
  let last: string | undefined
  let areActions = true
  for await (const line of linesOf(path)) {
    file.update(`${line}\n`)
    if (last !== undefined) {
      lines.update(`${last}\n`)
      const action = readVersion(last)
      areActions &&= action !== undefined
      if (action !== undefined) actions.push(action)
    }
    last = line
  }
  for (const action of actions) versions.update(archivedVersionLine(action))
  const end = readEnd(last)
  const read = { actions: actions.length, sha256: lines.digest('hex'), versions_sha256: versions.digest('hex') }
  const isWhole =
    areActions && Object.entries(read).every(([field, value]) => end?.statement[field as 'sha256'] === value)
  return { end, isWhole, actions, sha256: file.digest('hex') }
}

function readEnd(line: string | undefined): ArchiveEnd | undefined {
  try {
    return ArchiveEnd.parse(JSON.parse(line ?? ''))
  } catch {
    return undefined
  }
}

function readVersion(line: string): ArchivedVersion | undefined {
  try {
    const { action_id, version } = JSON.parse(line)
    return typeof action_id === 'string' && Number.isInteger(version) ? { action_id, version } : undefined
  } catch {
    return undefined
  }
}

/** The sums of the SHA256SUMS of a folder by the names of the files; none before its first part. */
export async function readSums(folder: string): Promise<Map<string, string>> {
  const text = await readFile(join(folder, SUMS), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n').filter(line => line !== '')
  return new Map(lines.map(line => [line.slice(66), line.slice(0, 64)]))
}
