import type { Broker } from '@backstop/kit/simulated-kafka'
import type { MongoServer } from '@backstop/kit/simulated-mongo'
import { valuesAt } from '@backstop/kit/simulated-mongo'
import type { Document } from 'mongodb'

/** A look that is due later is none that a run waits for, in milliseconds. */
const SOON_MS = 120_000
const OUTBOXES = [['outbox'], ['current', 'outbox']] as const

export interface RestParts {
  readonly mongo: MongoServer
  readonly broker: Broker
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Time of the last fault, in milliseconds since the epoch. */
  readonly faultsEndedMs: number
}

/** What is still in progress in the product: unread messages, messages that were not sent, looks and sweeps that are due. Undefined if nothing is. */
export function pendingWork(parts: RestParts): string | undefined {
  return unread(parts) ?? unsent(parts) ?? undone(parts)
}

function unread({ broker }: RestParts): string | undefined {
  for (const [name, group] of broker.groups()) {
    if (!group.commits) continue
    for (const topic of group.topics()) {
      for (let partition = 0; partition < broker.log.countPartitions(topic); partition += 1) {
        const end = broker.log.end(topic, partition)
        const read = group.committed.get(`${topic}/${partition}`) ?? 0n
        if (read < end) return `${name} has read ${topic}/${partition} to ${read} of ${end}`
      }
    }
  }
  return undefined
}

function unsent({ mongo }: RestParts): string | undefined {
  for (const collection of mongo.collections()) {
    for (const document of collection.all()) {
      const waiting = OUTBOXES.some(path => valuesAt(document, path).length > 0)
      if (waiting) return `${collection.name} ${document._id} has messages that were not sent`
    }
  }
  return undefined
}

function undone({ mongo, now, faultsEndedMs }: RestParts): string | undefined {
  for (const { _id, current } of mongo.collection('subjects').all()) {
    const at = (current as Document | undefined)?.nextLookAt as Date | undefined
    if (at !== undefined && at.getTime() < now + SOON_MS) return `The case ${_id} waits for a look`
  }
  for (const { _id, last_run_at, last_error, woken } of mongo.collection('sweeps').all()) {
    const isSwept = last_run_at !== null && last_run_at.getTime() > faultsEndedMs && last_error === null && !woken
    if (!isSwept) return `The connection ${_id} waits for a sweep: ${last_error ?? 'none since the last fault'}`
  }
  return undefined
}
