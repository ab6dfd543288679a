/** A registered schema. Owner: the deploy job. Services read its id here, also while the registry is unavailable. */
export interface SchemaIdDocument {
  /** `<message type>/<sha256 of the schema>`, as `schemaKey` makes it. */
  _id: string
  schema_id: number
  message: string
  registered_at: Date
}
