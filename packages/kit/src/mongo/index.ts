export * from './duplicate-keys.ts'
export * from './mongo.ts'
export * from './update-if.ts'
