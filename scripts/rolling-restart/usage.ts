/** How much processor time and storage the events took. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Db } from 'mongodb'
import { cpuMsOf } from '../../test/setup/metrics.ts'
import type { ServiceProcess } from '../start/service-process.ts'

/** Seconds of processor time by service. The counter of a process ends with it, so it is read before the process stops. */
export class ProcessorTime {
  readonly #seconds = new Map<string, number>()

  async add({ service, opsUrl }: ServiceProcess): Promise<void> {
    const seconds = (await cpuMsOf(opsUrl)) / 1_000
    this.#seconds.set(service, (this.#seconds.get(service) ?? 0) + seconds)
  }

  /** By service, in the order in which they were added. */
  seconds(): ReadonlyMap<string, number> {
    return this.#seconds
  }
}

export interface Stored {
  readonly name: string
  readonly documents: number
  readonly bytes: number
}

/** The collections with more than one megabyte, with their indexes, as they are on the disk. */
export async function storedInMongo(database: Db): Promise<Stored[]> {
  const names = (await database.listCollections({ type: 'collection' }).toArray()).map(({ name }) => name)
  const sizes = await Promise.all(
    names.map(async name => {
      const { count, storageSize, totalIndexSize } = await database.command({ collStats: name })
      return { name, documents: count as number, bytes: (storageSize as number) + (totalIndexSize as number) }
    }),
  )
  return largest(sizes)
}

/** The topics with more than one megabyte. @param folder the log folder of the broker */
export function storedInKafka(folder: string, topicPrefix: string): Stored[] {
  const sizes = new Map<string, number>()
  for (const partition of readdirSync(folder).filter(name => name.startsWith(topicPrefix))) {
    const topic = partition.slice(topicPrefix.length).replace(/-\d+$/, '')
    const bytes = readdirSync(join(folder, partition))
      .filter(name => name.endsWith('.log'))
      .reduce((sum, name) => sum + statSync(join(folder, partition, name)).size, 0)
    sizes.set(topic, (sizes.get(topic) ?? 0) + bytes)
  }
  return largest([...sizes].map(([name, bytes]) => ({ name, documents: 0, bytes })))
}

function largest(sizes: Stored[]): Stored[] {
  return sizes.filter(({ bytes }) => bytes > 1_000_000).sort((a, b) => b.bytes - a.bytes)
}
