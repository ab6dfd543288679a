import { join, relative } from 'node:path'
import { ArchiveEnd, type ShownAction } from '@backstop/contracts'
import { readPublicKeys, readSigned } from '../audit/verify-export.ts'
import { linesOf, listFolders, listParts, readPart, readSums, STORED, SUMS } from './part-file.ts'

export interface Verification {
  readonly state: 'intact' | 'broken'
  readonly parts: number
  readonly actions: number
  /** Parts whose actions may still be in the database, because the run that wrote them did not end. */
  readonly unfinished: number
  readonly faults: readonly string[]
}

/**
 * Verifies the parts of an archive with public keys alone: that each is signed, that its lines are those that were signed, and that none is
 * missing.
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
        isListed: isStored || sum !== undefined,
        isSum: (sum ?? sha256) === sha256,
      })
      if (fault === undefined) actions += end?.statement.actions ?? 0
      else faults.push(`${relative(directory, path)} ${fault}`)
    }
    faults.push(...[...sums.keys()].map(name => `${relative(directory, join(folder, name))} is missing`))
  }
  return { state: faults.length === 0 ? 'intact' : 'broken', parts, actions, unfinished, faults }

  function faultOf(part: { end: ArchiveEnd | undefined; isWhole: boolean; isListed: boolean; isSum: boolean }) {
    const signed = part.end && readSigned(JSON.stringify(part.end), keys, ArchiveEnd.shape.statement)
    if (signed === undefined) return 'has no valid signature of this public key'
    if (!part.isWhole) return 'has other lines than those that were signed'
    if (!part.isListed) return `is not in ${SUMS}`
    return part.isSum ? undefined : `differs from ${SUMS}`
  }
}

/** Which archived actions are read. An undefined field matches everything. */
export type ArchiveFilter = Partial<Pick<ShownAction, 'action_id' | 'subject' | 'provider_ref'>>

/** The archived actions that match, each in its newest version, in the order in which they were first recorded. */
export async function findArchived(directory: string, filter: ArchiveFilter): Promise<ShownAction[]> {
  const wanted = Object.entries(filter)
  const found = new Map<string, ShownAction>()
  for (const folder of await listFolders(directory)) {
    for (const { name, isStored } of await listParts(folder)) {
      for await (const line of linesOf(join(folder, isStored ? name + STORED : name))) {
        // Parsing costs more than the search for one of the values.
        if (!wanted.every(([, value]) => line.includes(JSON.stringify(value)))) continue
        const action = JSON.parse(line) as ShownAction
        if (!wanted.every(([field, value]) => action[field as keyof ShownAction] === value)) continue
        const known = found.get(action.action_id)
        if (known === undefined || known.version < action.version) found.set(action.action_id, action)
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.first_seen_at < b.first_seen_at ? -1 : 1))
}
