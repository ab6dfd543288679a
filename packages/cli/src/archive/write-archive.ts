import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../define-command.ts'
import { given } from '../define-command.ts'
import { CommandFault } from '../fault.ts'
import { listParts, partName, readPart, readSums, STORED, SUMS } from './part-file.ts'

/** A large part takes longer than other calls. */
const EXPORT_WITHIN_MS = 600_000
/** Longer than the reconciler takes for a part while it is busy. */
const REMOVED_WITHIN_MS = 120_000
/** The pause before the removal is asked for again. It doubles each time. */
const PAUSE_MS = { first: 20, longest: 1_000 }
const UNFINISHED = '.tmp'

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
  readonly actions: number
}

type Ports = Pick<Context, 'err'> & {
  readonly client: { readonly projects: Pick<Context['client']['projects'], 'exportArchive' | 'removeArchived'> }
}

/**
 * Moves old explained actions into files, part by part. A part is complete on the disk before its actions are removed, and keeps the name of a
 * stored part until they are. So a run that was killed is repaired by the next one, and no action is lost or in two parts.
 */
export async function writeArchive({ directory, projectId, before }: WriteRequest, ports: Ports): Promise<Written> {
  const folder = join(directory, projectId)
  await mkdir(folder, { recursive: true })
  for (const file of await readdir(folder)) if (file.endsWith(UNFINISHED)) await rm(join(folder, file))
  const written = { project_id: projectId, folder, parts: 0, actions: 0 }
  const finish = async (name: string) => {
    written.actions += await finishPart(folder, name, projectId, ports)
    written.parts++
    ports.err(`${name}: ${written.actions} actions archived\n`)
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

/** @returns the name of the stored part, undefined if there was no action; and the cursor of the next part */
async function storePart(
  folder: string,
  projectId: string,
  query: { readonly before?: string; readonly cursor?: string },
  { client }: Ports,
): Promise<{ readonly name: string | undefined; readonly next: string | undefined }> {
  const path = join(folder, `part${UNFINISHED}`)
  const { body } = await client.projects.exportArchive(projectId, query, { timeoutMs: EXPORT_WITHIN_MS })
  if (body === null) throw new CommandFault('failed', 'The answer is empty')
  await pipeline(Readable.fromWeb(body as never), createWriteStream(path, { flush: true }))
  const { end, isWhole } = await readPart(path)
  if (end === undefined || !isWhole || end.statement.project_id !== projectId) {
    throw new CommandFault('failed', 'The part was cut off on its way', 'Run the command again: nothing was removed')
  }
  const next = end.next_cursor ?? undefined
  if (end.statement.actions === 0) {
    await rm(path)
    return { name: undefined, next }
  }
  const name = partName(end.statement)
  await rename(path, join(folder, name + STORED))
  await syncFolder(folder)
  return { name, next }
}

/** Has the actions of a stored part removed, and gives it its final name. @returns the number of its actions */
async function finishPart(folder: string, name: string, projectId: string, { client }: Ports): Promise<number> {
  const path = join(folder, name + STORED)
  const { end, isWhole, actions, sha256 } = await readPart(path)
  if (end === undefined || !isWhole) {
    throw new CommandFault(
      'failed',
      `${path} was changed or damaged`,
      'Move it away: its actions will be exported again',
    )
  }
  const { statement, signature } = end
  const deadline = performance.now() + REMOVED_WITHIN_MS
  let pauseMs = PAUSE_MS.first
  while (
    (await client.projects.removeArchived(projectId, { statement, signature, actions: [...actions] })).waiting > 0
  ) {
    if (performance.now() > deadline) {
      const remedy = 'Look whether the reconciler works, then run the command again'
      throw new CommandFault('failed', `The actions of ${name} were not removed within two minutes`, remedy)
    }
    await sleep(pauseMs)
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest)
  }
  await addSum(folder, name, sha256)
  await rename(path, join(folder, name))
  await syncFolder(folder)
  return actions.length
}

async function addSum(folder: string, name: string, sha256: string): Promise<void> {
  const path = join(folder, SUMS)
  const sums = (await readSums(folder)).set(name, sha256)
  const text = [...sums].map(([file, sum]) => `${sum}  ${file}\n`).join('')
  await writeFile(path + UNFINISHED, text, { flush: true })
  await rename(path + UNFINISHED, path)
}

/** Makes new names in a folder durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
