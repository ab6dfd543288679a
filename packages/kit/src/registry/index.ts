export * from './message-codec.ts'
export * from './registry-codec.ts'
export { createHttpExchange, type RegistryExchange } from './registry-exchange.ts'
export * from './schema-id-store.ts'
export {
  createSchemaRegistry,
  findSchemaId,
  registerSchema,
  type SchemaRegistry,
} from './schema-registry.ts'
