import { basename, join, relative } from 'node:path'
import { ArchiveEnd, type ShownAction } from '@backstop/contracts'
import { readPublicKeys, readSigned } from '../audit/verify-export.ts'
import { CommandFault } from '../fault.ts'
import { linesOf, listFolders, listParts, partName, readPart, readSums, STORED, SUMS } from './part-file.ts'

export interface Verification {
  readonly state: 'intact' | 'broken'
  readonly parts: number
  readonly actions: number
  /** Parts whose actions may still be in the database, because the run that wrote them did not end. */
  readonly unfinished: number
  readonly faults: readonly string[]
}

/**
 * Verifies the parts of an archive with public keys alone: that each is signed, that its lines are those that were signed, that each has its own
 * name in the folder of its project, and that none of SHA256SUMS is missing. A directory without parts is broken.
 * @param publicKeys one or more Ed25519 public keys as PEM; one of them must have signed
 */
export async function verifyArchive(directory: string, publicKeys: string): Promise<Verification> {
  const keys = readPublicKeys(publicKeys)
  const faults: string[] = []
  let [parts, actions, unfinished] = [0, 0, 0]
  for (const folder of await listFolders(directory)) {
    const sums = await readSums(folder)
    for (const { name, isStored } of await listParts(folder)) {
      const path = join(folder, isStored ? name + STORED : name)
      const { end, isWhole, sha256 } = await readPart(path)
      const sum = sums.get(name)
      sums.delete(name)
      parts++
      if (isStored) unfinished++
      const fault = faultOf({
        end,
        isWhole,
        isInPlace: end?.statement.project_id === basename(folder) && partName(end.statement) === name,
        isListed: isStored || sum !== undefined,
        isSum: (sum ?? sha256) === sha256,
      })
      if (fault === undefined) actions += end?.statement.actions ?? 0
      else faults.push(`${relative(directory, path)} ${fault}`)
    }
    faults.push(...[...sums.keys()].map(name => `${relative(directory, join(folder, name))} is missing`))
  }
  if (parts === 0 && faults.length === 0) faults.push(`No part of an archive is in ${directory}`)
  return { state: faults.length === 0 ? 'intact' : 'broken', parts, actions, unfinished, faults }

  function faultOf(part: {
    readonly end: ArchiveEnd | undefined
    readonly isWhole: boolean
    readonly isInPlace: boolean
    readonly isListed: boolean
    readonly isSum: boolean
  }) {
    const signed = part.end && readSigned(JSON.stringify(part.end), keys, ArchiveEnd.shape.statement)
    if (signed === undefined) return 'has no valid signature of this public key'
    if (!part.isWhole) return 'has other lines than those that were signed'
    if (!part.isInPlace) return 'has the name of another part, or is in the folder of another project'
    if (!part.isListed) return `is not in ${SUMS}`
    return part.isSum ? undefined : `differs from ${SUMS}`
  }
}

/** Which archived actions are read. An undefined field matches everything. */
export type ArchiveFilter = Partial<Pick<ShownAction, 'action_id' | 'subject' | 'provider_ref'>>

/**
 * The archived actions that match, oldest first. Of each action, the most recent export: after the database was restored from a backup, its
 * version may be lower than that of an earlier export.
 * @throws CommandFault if a line that may match is not valid JSON
 */
export async function findArchived(directory: string, filter: ArchiveFilter): Promise<ShownAction[]> {
  const wanted = Object.entries(filter)
  const found = new Map<string, Found>()
  for (const folder of await listFolders(directory)) {
    for (const { name, isStored } of await listParts(folder)) {
      const path = join(folder, isStored ? name + STORED : name)
      const ofPart: ShownAction[] = []
      let last = ''
      for await (const line of linesOf(path)) {
        last = line
        // Parsing costs more than the search for one of the values.
        if (!wanted.every(([, value]) => line.includes(JSON.stringify(value)))) continue
        const action = parseLine<ShownAction>(line, path)
        if (wanted.every(([field, value]) => action[field as keyof ShownAction] === value)) ofPart.push(action)
      }
      if (ofPart.length === 0) continue
      const exportedAt = parseLine<Partial<ArchiveEnd>>(last, path).statement?.exported_at ?? ''
      for (const action of ofPart) {
        const known = found.get(action.action_id)
        if (known === undefined || isNewer({ action, exportedAt }, known)) {
          found.set(action.action_id, { action, exportedAt })
        }
      }
    }
  }
  const actions = [...found.values()].map(({ action }) => action)
  return actions.sort((a, b) => (a.first_seen_at < b.first_seen_at ? -1 : 1))
}

interface Found {
  readonly action: ShownAction
  /** ISO time; empty for a part that is cut off. */
  readonly exportedAt: string
}

function isNewer(one: Found, other: Found): boolean {
  if (one.exportedAt !== other.exportedAt) return one.exportedAt > other.exportedAt
  return one.action.version > other.action.version
}

function parseLine<T>(line: string, path: string): T {
  try {
    return JSON.parse(line)
  } catch {
    throw new CommandFault('failed', `${path} is damaged`, 'Restore it from a copy; backstop archive verify names all')
  }
}
