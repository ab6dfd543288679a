import { type ChangeCursor, type ChangeFeed, PositionLost, type StoredChange } from '../src/store/change-feed.ts'

/** The changes of collections in memory. */
export interface MemoryChangeFeed extends ChangeFeed {
  note(collection: StoredChange['collection'], id: string): void
  /** Forgets all changes so far, like a history that is full. */
  forget(): void
}

const PAUSE_MS = 5

export function createMemoryChangeFeed(): MemoryChangeFeed {
  let changes: StoredChange[] = []
  let count = 0
  let firstKept = 0
  const at = (number: number) => String(number).padStart(12, '0')
  return {
    note(collection, id) {
      count++
      changes.push({ position: at(count), collection, id })
    },
    forget() {
      changes = []
      firstKept = count
    },
    async open(after): Promise<ChangeCursor> {
      if (after !== undefined && (!/^\d{12}$/.test(after) || Number(after) < firstKept)) throw new PositionLost()
      let position = after ?? at(count)
      return {
        get position() {
          return position
        },
        async next() {
          if (Number(position) < firstKept) throw new PositionLost()
          const found = changes.filter(change => change.position > position).slice(0, 100)
          position = found.at(-1)?.position ?? position
          if (found.length === 0) await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
          return found
        },
        async close() {},
      }
    },
  }
}
