import { join } from 'node:path'
import type { ArchiveEnd, ShownAction } from '@backstop/contracts'
import { CommandFault } from '../exit-code.ts'
import { linesOf, listFolders, listParts, STORED } from './part-file.ts'

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
