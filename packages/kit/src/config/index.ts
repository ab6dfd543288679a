export * from './config.ts'
export * from './secret.ts'
