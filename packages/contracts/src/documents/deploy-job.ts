/** Owner: the deploy job. Known schema ids, so that a registry that is away stops nobody. */
export interface SchemaIdDocument {
  /** `<message type>/<sha256 of the schema>`, as `schemaKey` makes it. */
  _id: string
  schema_id: number
  message: string
  registered_at: Date
}
