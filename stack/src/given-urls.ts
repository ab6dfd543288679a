import type { PartName, StackUrls } from './stack-contract.ts'

/** The URLs from the environment, and the parts that they belong to. An empty variable counts as not set. */
export function givenUrls(env: NodeJS.ProcessEnv): { urls: Partial<StackUrls>; parts: PartName[] } {
  const { KAFKA_BROKERS: kafka, MONGO_URL: mongo, SCHEMA_REGISTRY_URL: registry, SMTP_URL: smtp, MAIL_URL: mail } = env
  const urls: Partial<StackUrls> = {
    ...(kafka && { kafka }),
    ...(mongo && { mongo }),
    ...(registry && { registry: registry.replace(/\/+$/, '') }),
    ...(smtp && { smtp, mail: mail ?? '' }),
  }
  const parts: PartName[] = []
  if (kafka) parts.push('kafka')
  if (mongo) parts.push('mongo')
  if (registry) parts.push('registry')
  if (smtp) parts.push('mail')
  return { urls, parts }
}

/** The environment variable with the URL of each part. */
export const VARIABLE_OF: Record<PartName, string> = {
  kafka: 'KAFKA_BROKERS',
  mongo: 'MONGO_URL',
  registry: 'SCHEMA_REGISTRY_URL',
  mail: 'SMTP_URL',
}
