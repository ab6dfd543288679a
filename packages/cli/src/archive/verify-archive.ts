import { basename, join, relative } from 'node:path'
import { ArchiveEnd } from '@backstop/contracts'
import { readPublicKeys, readSigned } from '../audit/verify-export.ts'
import { listFolders, listParts, partName, readPart, readSums, STORED, SUMS } from './part-file.ts'

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
