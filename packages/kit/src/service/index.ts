export { checkCredentials } from './check-credentials.ts'
export {
  type CredentialConfig,
  kafkaCredentials,
  mongoTls,
  refusalMessage,
  registryCredentials,
} from './connections.ts'
export { credentialSettings } from './credential-settings.ts'
export * from './open-egress.ts'
export { createPreconditions, type Precondition, type Preconditions } from './preconditions.ts'
export * from './run-service.ts'
export * from './service-parts.ts'
export * from './settings.ts'
export * from './start-app.ts'
export { readConnectionSecrets } from './stored-secrets.ts'
export { hasIndex, readIndexes, requireUniqueIndexes } from './unique-indexes.ts'
