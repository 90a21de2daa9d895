/** The model that the app is built with. (The build reads this file, too.) */
export const EMBEDDED_MODEL = "models/chorus-chat/";
