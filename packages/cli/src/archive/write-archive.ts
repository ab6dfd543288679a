import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ApiProblem } from '@backstop/client'
import type { ArchiveEnd, ArchiveRemoval } from '@backstop/contracts'
import type { Context } from '../define-command.ts'
import { given } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { type ArchiveFiles, addSum, lockFolder, makeFolder, storeFile, syncFolder, UNFINISHED } from './folder-files.ts'
import { listParts, type Part, partName, readPart, readSums, STORED } from './part-file.ts'

/** A large part takes longer than other calls. */
const EXPORT_WITHIN_MS = 600_000
/** Longer than the reconciler takes for a part while it is busy. */
const REMOVED_WITHIN_MS = 120_000
/** The pause before the removal is asked for again, which sends its commands again. It doubles each time. */
const PAUSE_MS = { first: 1_000, longest: 15_000 }
const KEEP = 'Its actions may be removed from the database already, so never delete it'

export interface WriteRequest {
  readonly directory: string
  readonly projectId: string
  /** A month, as `YYYY-MM`: only actions that were first recorded before it. */
  readonly before?: string | undefined
}

/** What one run has written. */
export interface Written {
  readonly project_id: string
  readonly folder: string
  readonly parts: number
  /** Actions that are in these parts, and no longer in the database. */
  readonly actions: number
}

export interface ArchivePorts extends Pick<Context, 'err'> {
  readonly client: { readonly projects: Pick<Context['client']['projects'], 'exportArchive' | 'removeArchived'> }
  readonly files: ArchiveFiles
  sleep(ms: number): Promise<unknown>
}

/**
 * Moves old explained actions into files, part by part. A part is complete on the disk, and in SHA256SUMS, before its actions are removed, and
 * keeps the name of a stored part until they are. So a run that was killed is repaired by the next one, and no version of an action is lost or
 * in two parts.
 * @throws CommandFault with the remedy, also while another run writes to the same folder
 */
export async function writeArchive({ directory, projectId, before }: WriteRequest, ports: ArchivePorts) {
  if (!/^prj_[0-9a-z]+$/.test(projectId)) throw new CommandFault('misused', `${projectId} is no id of a project`)
  const folder = join(directory, projectId)
  await makeFolder(folder, ports.files)
  const unlock = await lockFolder(folder, ports.files)
  try {
    return await writeParts({ folder, projectId, before }, ports)
  } finally {
    await unlock()
  }
}

async function writeParts(
  { folder, projectId, before }: Omit<WriteRequest, 'directory'> & { readonly folder: string },
  ports: ArchivePorts,
): Promise<Written> {
  await tidy(folder, ports)
  const written = { project_id: projectId, folder, parts: 0, actions: 0 }
  const finish = async (name: string) => {
    const { removed, changed } = await finishPart(folder, name, projectId, ports)
    written.actions += removed
    written.parts++
    const stayed = changed === 0 ? '' : `, ${changed} changed meanwhile and stayed`
    ports.err(`${name}: ${removed} actions archived${stayed}; ${written.actions} in all\n`)
  }
  for (const { name, isStored } of await listParts(folder)) if (isStored) await finish(name)
  let cursor: string | undefined
  do {
    const stored = await storePart(folder, projectId, given({ before, cursor }), ports)
    if (stored.name !== undefined) await finish(stored.name)
    cursor = stored.next
  } while (cursor !== undefined)
  return written
}

/** Removes what a killed run left unfinished, and adds parts to SHA256SUMS that a lost or damaged one does not list. */
async function tidy(folder: string, { files }: ArchivePorts): Promise<void> {
  for (const file of await readdir(folder)) if (file.endsWith(UNFINISHED)) await files.rm(join(folder, file))
  const sums = await readSums(folder)
  for (const { name, isStored } of await listParts(folder)) {
    if (isStored || sums.has(name)) continue
    const { isWhole, sha256 } = await readPart(join(folder, name))
    if (isWhole) await addSum(folder, name, sha256, files)
  }
}

/** @returns the name of the stored part, undefined if there was no action; and the cursor of the next part */
async function storePart(
  folder: string,
  projectId: string,
  query: { readonly before?: string; readonly cursor?: string },
  { client, files }: ArchivePorts,
): Promise<{ readonly name: string | undefined; readonly next: string | undefined }> {
  const path = join(folder, `part${UNFINISHED}`)
  const { body } = await client.projects.exportArchive(projectId, query, { timeoutMs: EXPORT_WITHIN_MS })
  if (body === null) throw new CommandFault('failed', 'The answer is empty')
  await storeFile(path, Readable.fromWeb(body as never), files)
  const { end, isWhole } = await readPart(path)
  if (end === undefined || !isWhole || end.statement.project_id !== projectId) {
    throw new CommandFault('failed', 'The part was cut off on its way', 'Run the command again: nothing was removed')
  }
  const next = end.next_cursor ?? undefined
  if (end.statement.actions === 0) {
    await files.rm(path)
    return { name: undefined, next }
  }
  const name = partName(end.statement)
  await files.rename(path, join(folder, name + STORED))
  await syncFolder(folder, files)
  return { name, next }
}

/** Has the actions of a stored part removed, and gives it its final name. */
async function finishPart(
  folder: string,
  name: string,
  projectId: string,
  ports: ArchivePorts,
): Promise<ArchiveRemoval> {
  const path = join(folder, name + STORED)
  const { end, isWhole, actions, sha256 } = await readPart(path)
  if (end === undefined || !isWhole || end.statement.project_id !== projectId) {
    const remedy = `Keep it and restore it from a copy. ${KEEP}`
    throw new CommandFault('failed', `${path} was changed or damaged`, remedy)
  }
  await addSum(folder, name, sha256, ports.files)
  const removal = await removeActions({ name, end, actions }, projectId, ports)
  await ports.files.rename(path, join(folder, name))
  await syncFolder(folder, ports.files)
  return removal
}

async function removeActions(
  { name, end, actions }: Pick<Part, 'actions'> & { readonly name: string; readonly end: ArchiveEnd },
  projectId: string,
  { client, sleep }: ArchivePorts,
): Promise<ArchiveRemoval> {
  const { statement, signature } = end
  let waitedMs = 0
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest)) {
    const removal = await client.projects
      .removeArchived(projectId, { statement, signature, actions: [...actions] })
      .catch(error => {
        throw isUnknownKey(error) ? unknownKey(name, end.key_id) : error
      })
    if (removal.waiting === 0) return removal
    if (waitedMs > REMOVED_WITHIN_MS) {
      const remedy = `Look whether the reconciler works, then run the command again. Keep the file ${name}${STORED}. ${KEEP}`
      throw new CommandFault('failed', `The actions of ${name} were not removed within two minutes`, remedy)
    }
    await sleep(pauseMs)
    waitedMs += pauseMs
  }
}

function isUnknownKey(error: unknown): boolean {
  return error instanceof ApiProblem && error.errors.some(({ path }) => path === 'body.statement')
}

function unknownKey(name: string, keyId: string): CommandFault {
  const remedy = `Put the key ${keyId} back at the end of SECRET_KEYS, restart admin-api, run the command again, then remove the key. ${KEEP}`
  return new CommandFault('failed', `The service does not accept the signature of ${name}${STORED}`, remedy)
}
