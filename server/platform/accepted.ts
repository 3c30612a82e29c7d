// A reply with status 202: the request was accepted, and the caller must ask again.

export class Accepted {
  /** The fields in addition to `ok: true`. */
  readonly fields: object;

  constructor(fields: object) {
    this.fields = fields;
  }
}
