import { COLLECTIONS, mongoRightsOf, type ProgramName, type ProgramRights, RIGHTS } from '@backstop/contracts'
import type { Db } from 'mongodb'
import { type AuthorizedOperations, READ, readAuthorizedOperations, WRITE } from '../bus/authorized-operations.ts'
import { describeKafkaError, kafkaSentence, principalOf } from '../bus/kafka-errors.ts'
import type { KafkaConnection } from '../bus/kafkajs/client.ts'
import {
  describeMissingRights,
  findMissingRights,
  readPrivileges,
  refusesUnauthorized,
} from '../mongo/granted-rights.ts'
import type { Precondition } from './preconditions.ts'

/**
 * Requires the rights of a program's users at MongoDB and Kafka, without any write. A program that may read and not write would look
 * healthy until its first write. Where the servers have no access control, everything is allowed.
 */
export function requireRights(
  program: ProgramName,
  { db, kafka, topicPrefix }: { readonly db: Db; readonly kafka: KafkaConnection; readonly topicPrefix: string },
): Precondition {
  let ofKafka: string | undefined
  const checkKafka = async () => {
    const wanted = kafkaRightsOf(program, topicPrefix)
    try {
      ofKafka = describeMissingAccess(wanted, await readAuthorizedOperations(kafka, wanted), principalOf(kafka))
    } catch (error) {
      // Readiness reports an unavailable Kafka by itself, and services that do not need it go on. The last judgement stands.
      kafka.logger.warn({ error: describeKafkaError(error) }, 'rights.not_checked')
    }
    return ofKafka
  }
  return async () => {
    const found = await Promise.all([checkMongo(program, db), checkKafka()])
    const faults = found.filter(fault => fault !== undefined)
    return faults.length === 0 ? undefined : faults.join('; ')
  }
}

async function checkMongo(program: ProgramName, db: Db): Promise<string | undefined> {
  const granted = await readPrivileges(db)
  if (granted === undefined) return undefined
  const names = { db: db.databaseName, collections: Object.keys(COLLECTIONS) }
  // A process works without its entry in the list of processes, for instance with the roles of an earlier version.
  const needed = mongoRightsOf(program).filter(({ collection }) => collection !== 'processes')
  const missing = findMissingRights(granted.privileges, needed, names)
  if (missing.length === 0 || !(await refusesUnauthorized(db))) return undefined
  return describeMissingRights(granted.user, missing)
}

interface KafkaAccess {
  readonly topics: readonly string[]
  readonly groups: readonly string[]
  /** The operations by topic, as bits. */
  readonly needed: ReadonlyMap<string, number>
}

function kafkaRightsOf(program: ProgramName, prefix: string): KafkaAccess {
  const { reads, writes, groups }: ProgramRights['kafka'] = RIGHTS[program].kafka
  const needed = new Map<string, number>()
  for (const topic of reads) needed.set(prefix + topic, READ)
  for (const topic of writes) needed.set(prefix + topic, (needed.get(prefix + topic) ?? 0) | WRITE)
  return { topics: [...needed.keys()], groups: groups === undefined ? [] : [prefix + groups], needed }
}

/** One sentence about the topics and groups that the user may not use; undefined if it may use all. */
export function describeMissingAccess(
  { groups, needed }: KafkaAccess,
  authorized: AuthorizedOperations,
  principal: string,
): string | undefined {
  const lacking = (bit: number) =>
    [...needed].flatMap(([topic, bits]) => {
      const given = authorized.topics.get(topic)
      return (bits & bit) !== 0 && given !== undefined && (given & bit) === 0 ? [topic] : []
    })
  const [reads, writes] = [lacking(READ), lacking(WRITE)]
  const unusable = groups.filter(group => ((authorized.groups.get(group) ?? READ) & READ) === 0)
  const accesses = [
    ...(reads.length === 0 ? [] : [`read ${reads.join(', ')}`]),
    ...(writes.length === 0 ? [] : [`write ${writes.join(', ')}`]),
    ...(unusable.length === 0 ? [] : [`use the consumer group ${unusable.join(', ')}`]),
  ]
  return accesses.length === 0 ? undefined : kafkaSentence(principal, accesses.join(' and '))
}
